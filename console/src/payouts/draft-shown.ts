/** A draft in words. */
import type { DraftRowFragment } from '../../../schema/generated/console.ts';
import { refusedBy, type Outcome, type Refusal } from '../parts/outcome.ts';
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

/** Why an approval was refused: in words of its own where it is a known case of a draft. */
export const refusalOutcome = (own: DraftWords, refusal: Refusal): Outcome => {
  const { code, message } = refusal;
  const known: Readonly<Record<string, string>> = own.refusals;
  if (code === 'bad_request' && message.startsWith('card_pan'))
    return { refused: own.refusals.card };
  const text = known[code];
  return text === undefined ? refusedBy(refusal) : { refused: text };
};
