/** A draft in words. */
import type { DraftRowFragment } from '../../../schema/generated/console.ts';
import type { DraftWords } from '../words/drafts.ts';

/** Who is to be paid: as much as a draft shows, at the bank of that name. */
export const recipientText = (
  { recipient }: Pick<DraftRowFragment, 'recipient'>,
  bank = '',
): string => {
  const { phoneMask, accountMask, cardMask, bik, fullName } = recipient;
  const card = cardMask && `**** ${cardMask}`;
  return [phoneMask ?? accountMask ?? card, bank, bik, fullName].filter(Boolean).join(' · ');
};

/** Why an approval was refused, in the person's language where it is a known case. */
export const refusalText = (
  own: DraftWords,
  { code, message }: { readonly code: string; readonly message: string },
): string => {
  const known: Readonly<Record<string, string>> = own.refusals;
  if (code === 'bad_request' && message.startsWith('card_pan')) return own.refusals.card;
  return known[code] ?? message;
};
