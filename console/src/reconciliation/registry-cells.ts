/** The cells of a registry: money, moments and words as acquirers write them. */
import { digitsOf, isCurrency } from '../../../schema/currencies.ts';

/** A text as names are compared: small letters, single spaces, `е` for `ё`. */
export const plain = (text: string): string =>
  text.toLowerCase().replaceAll('ё', 'е').replace(/\s+/g, ' ').trim();

/** A column's name without the currency that some add: `Сумма, руб.`. */
export const columnName = (text: string): string =>
  plain(text).replace(/[,(]? ?(?:руб\.?|rub|₽)\)?$/, '');

/** Money with its sign, in minor units as text. */
interface Money {
  readonly isNegative: boolean;
  readonly minor: string;
}

const largest = String(Number.MAX_SAFE_INTEGER);

const minorOf = (digits: string): string | null => {
  const minor = digits.replace(/^0+(?=\d)/, '');
  const fits =
    minor.length < largest.length || (minor.length === largest.length && minor <= largest);
  return fits ? minor : null;
};

/**
 * The exact minor units of `1 234,56`, `1234.56` or `-12,5 ₽`; null for any other text, such as one
 * with more decimals than the currency has.
 */
export const moneyOf = (text: string, currency: string, isMinor: boolean): Money | null => {
  const bare = text.replace(/\s*(?:₽|руб\.?|RUB)$/i, '').replace('\u2212', '-');
  const read = /^(-?)(\d+|\d{1,3}(?:[ \u00A0\u202F]\d{3})+)(?:[.,](\d+))?$/.exec(bare);
  if (!read) return null;
  const [, sign, whole = '', decimals = ''] = read;
  const digits = isMinor ? 0 : digitsOf(currency);
  if (decimals.length > digits) return null;
  const minor = minorOf(whole.replace(/\D/g, '') + decimals.padEnd(digits, '0'));
  return minor === null ? null : { isNegative: sign === '-', minor };
};

const rubles = ['', 'rur', 'руб', 'руб.', 'рубль', 'рубли', '₽', '643', '810'];

/** The ISO code of a currency; null for none that is known. Without one it is RUB. */
export const currencyOf = (text: string): string | null => {
  if (rubles.includes(plain(text))) return 'RUB';
  const code = text.trim().toUpperCase();
  return isCurrency(code) ? code : null;
};

/** The zone of registries. */
const moscow = '+03:00';
const day_ms = 86_400_000;
/** The days of a spreadsheet count from here. */
const spreadsheetZero_ms = Date.UTC(1899, 11, 30);

const isoOf = (day: string, time: string, zone: string): string | null => {
  const at = new Date(`${day}T${time}${zone}`);
  // Most engines take 31 February for a day of March.
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
  return isDay && !Number.isNaN(at.getTime()) ? at.toISOString() : null;
};

/**
 * The moment of `22.08.2026 10:00:00`, `2026-08-22 10:00`, a day alone, a moment of RFC 3339 or a
 * day of a spreadsheet, in Moscow's time unless it names a zone; null for any other text.
 */
export const momentOf = (text: string): string | null => {
  if (/^\d{5}(?:\.\d+)?$/.test(text)) {
    const at_s = Math.round((spreadsheetZero_ms + Number(text) * day_ms) / 1_000);
    const [day = '', time = ''] = new Date(at_s * 1_000).toISOString().slice(0, 19).split('T');
    return isoOf(day, time, moscow);
  }
  const read =
    /^(?:(\d{2})\.(\d{2})\.(\d{4})|(\d{4})-(\d{2})-(\d{2}))(?:[ T,]+(\d{1,2}:\d{2})(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(
      text,
    );
  if (!read) return null;
  const [, d1, m1, y1, y2, m2, d2, minute = '00:00', second = ':00', part = '', zone = moscow] =
    read;
  const day = `${y1 ?? y2}-${m1 ?? m2}-${d1 ?? d2}`;
  return isoOf(day, `${minute.padStart(5, '0')}${second}${part.slice(0, 4)}`, zone);
};

/** The value that a cell's first words name; null for none. */
export const wordOf = <Value extends string>(
  text: string,
  words: Readonly<Record<Value, readonly string[]>>,
): Value | null => {
  const said = plain(text);
  const known = Object.entries<readonly string[]>(words).find(([, starts]) =>
    starts.some((start) => said.startsWith(start)),
  );
  return (known?.[0] as Value | undefined) ?? null;
};
