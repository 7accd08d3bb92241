/**
 * The currencies of ISO 4217 and the digits of their minor units: the one table of the service, the
 * pages, the console and the SDK. Intl is no source: it has the digits that people use (0 for HUF),
 * they change with its version, and it knows withdrawn codes.
 *
 * Source: list one of the maintenance agency (six-group.com, `list-one.xml`) as it stands on
 * 2026-09-17: the list of 2024-06-25, with the amendments 176 (XCG for ANG), 178 (without CUC), 179
 * (XAD) and 180 (without BGN). Metals, test codes and other codes without a minor unit are left out:
 * nothing can be paid in them.
 */
const codes: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF ' +
    'CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD ' +
    'GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL ' +
    'MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR ' +
    'PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP ' +
    'TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** Each currency with its digits. */
export const currencies: ReadonlyMap<string, number> = new Map(
  Object.entries(codes).flatMap(([digits, list]) =>
    list.split(' ').map((code) => [code, Number(digits)] as const),
  ),
);

/** Whether a text is the code of a currency that is in use. */
export const isCurrency = (text: string): boolean => currencies.has(text);

/**
 * How many digits the minor unit of a currency has: 2 for RUB, 0 for JPY, 3 for KWD. An old payment
 * may be in a currency that has been withdrawn since: 2, as nearly all had.
 */
export const digitsOf = (currency: string): number => currencies.get(currency) ?? 2;

/** Minor units as a decimal text, exactly: `decimalOf(149_90, 'RUB')` is `149.90`. */
export const decimalOf = (amount: number | bigint, currency: string): string => {
  const places = digitsOf(currency);
  const value = BigInt(amount);
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const sign = value < 0n ? '-' : '';
  if (places === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
};
