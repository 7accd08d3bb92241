/** A link's amount and remaining payments in words. */
import type { LinkRowFragment } from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import type { LinkWords } from '../words/links.ts';

/** The amount, or its bounds where the buyer enters it. */
export const linkAmount = (
  { amount, amountMin: least, amountMax: most, currency }: LinkRowFragment,
  words: LinkWords,
  locale: string,
): string => {
  const text = (of: number): string => money(of, currency, locale);
  if (amount !== null) return text(amount);
  if (least !== null && most !== null) return words.amountBetween(text(least), text(most));
  if (least !== null) return words.amountFrom(text(least));
  return most === null ? words.amountAny : words.amountTo(text(most));
};

/** How many more payments it accepts. */
export const usesText = ({ uses, usesLeft }: LinkRowFragment, words: LinkWords): string =>
  uses === null ? words.endless : words.usesOf(usesLeft ?? 0, uses);
