/** A payment's method, with its mask. */
import type { PaymentRowFragment } from '../../../schema/generated/console.ts';
import type { Words } from '../words/en.ts';

/** The method in words. */
export const methodText = (
  { method, customerCardMask, customerPhoneMask }: PaymentRowFragment,
  words: Words,
): string =>
  [words.payment.methods[method], customerCardMask ?? customerPhoneMask].filter(Boolean).join(' ');
