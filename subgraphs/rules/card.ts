/**
 * Card numbers and their related fields. Nothing here repeats the input: a message may be logged, a
 * card may not.
 */

const zero = '0'.charCodeAt(0);

/** Whether 12 to 19 digits pass the Luhn check. */
export const isCardNumber = (digits: string): boolean => {
  if (!/^\d{12,19}$/.test(digits)) return false;
  let sum = 0;
  for (let place = 1; place <= digits.length; place += 1) {
    const product = (digits.charCodeAt(digits.length - place) - zero) * (place % 2 === 0 ? 2 : 1);
    sum += product > 9 ? product - 9 : product;
  }
  return sum % 10 === 0;
};

const brands: readonly (readonly [RegExp, string])[] = [
  [/^220[0-4]/, 'Mir'],
  [/^4/, 'Visa'],
  // 2221 to 2720.
  [/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 'Mastercard'],
  [/^(62|81)/, 'UnionPay'],
];

/** The brand of a number by its first digits (ISO/IEC 7812), as the page shows it; null for others. */
export const brandOf = (digits: string): string | null =>
  brands.find(([pattern]) => pattern.test(digits))?.[1] ?? null;

/**
 * Whether a card with this expiry (MM/YY) is good at a moment: it is through the last day of its
 * month, wherever on earth that is still the day.
 */
export const isGoodUntil = (expiry: string, now: Temporal.Instant): boolean => {
  const [, month, year] = /^(0[1-9]|1[0-2]) ?\/ ?(\d{2})$/.exec(expiry) ?? [];
  if (!month || !year) return false;
  const end = Temporal.PlainYearMonth.from({ year: 2000 + Number(year), month: Number(month) })
    .add({ months: 1 })
    .toPlainDate({ day: 1 });
  return Temporal.Instant.compare(now, end.toZonedDateTime('-12:00').toInstant()) < 0;
};

/** The name on a card as it was typed; null when none was. */
export const holderOf = (card: { readonly holder: string } | null): string | null =>
  card?.holder.trim() || null;

/**
 * What is wrong with a card, in words that name the field and repeat nothing of it; null when it
 * can go to the bank.
 */
export const cardMistake = (
  card: { readonly number: string; readonly expiry: string; readonly cvc: string },
  now: Temporal.Instant,
): string | null => {
  if (!isCardNumber(card.number.replaceAll(/[\s-]/g, '')))
    return 'card.number: expected a valid card number';
  if (!isGoodUntil(card.expiry, now)) return 'card.expiry: expected MM/YY that is not past';
  if (!/^\d{3,4}$/.test(card.cvc)) return 'card.cvc: expected 3 or 4 digits';
  return null;
};
