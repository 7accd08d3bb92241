/** Money as people read it, on the pages and in the console. */
import { decimalOf, digitsOf } from './currencies.ts';

/**
 * Signs that several currencies share, or that are read as another one's: instead of them stands the
 * code. A test holds that no two currencies are written alike.
 */
const sharedSigns: ReadonlySet<string> = new Set(
  '$ £ ¥ ₩ kr Rs C$ R$ T$ NT$ K L P Q R р. FCFA'.split(' '),
);

type Options = Pick<
  Intl.NumberFormatOptions,
  'notation' | 'maximumFractionDigits' | 'trailingZeroDisplay'
>;

/** Making a format takes longer than all that it writes on a page. */
const formats = new Map<string, Intl.NumberFormat>();

const signIn = (format: Intl.NumberFormat): string =>
  (format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? '').replaceAll(
    /\s/g,
    '',
  );

/** How a locale writes a currency: by its sign, or by its code where the sign is ambiguous. */
const formatOf = (locale: string, currency: string, options: Options): Intl.NumberFormat => {
  const name = `${locale} ${currency} ${JSON.stringify(options)}`;
  const known = formats.get(name);
  if (known) return known;
  const digits = digitsOf(currency);
  const format = (currencyDisplay: 'narrowSymbol' | 'code'): Intl.NumberFormat =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay,
      minimumFractionDigits: options.notation === 'compact' ? 0 : digits,
      maximumFractionDigits: digits,
      ...options,
    });
  const bySign = format('narrowSymbol');
  const made = sharedSigns.has(signIn(bySign)) ? format('code') : bySign;
  formats.set(name, made);
  return made;
};

/** An amount in minor units, with all of its digits however large it is. */
export const formatMoney = (
  amount: number,
  currency: string,
  locale: string,
  options: Options = {},
): string =>
  // Intl reads a text of digits exactly; its type names a template alone.
  formatOf(locale, currency, options).format(decimalOf(amount, currency) as `${number}`);

const signs = new Map<string, readonly string[]>();

/**
 * What may stand beside a number that is an amount of the currency, longest first and without
 * spaces: its code and its signs.
 */
export const signsOf = (currency: string): readonly string[] => {
  const known = signs.get(currency);
  if (known) return known;
  const written = ['en', 'ru'].flatMap((locale) =>
    (['narrowSymbol', 'symbol'] as const).map((currencyDisplay) =>
      signIn(new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay })),
    ),
  );
  const inRussian = currency === 'RUB' ? ['руб.', 'руб', 'р.', 'р'] : [];
  const made = [...new Set([currency, ...written, ...inRussian])].toSorted(
    (one, other) => other.length - one.length,
  );
  signs.set(currency, made);
  return made;
};
