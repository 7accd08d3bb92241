/** The texts of a draft. */
import type { DraftRowFragment } from '../../../schema/generated/console.ts';
import { refusedBy, type Outcome, type Refusal } from '../parts/outcome.ts';
import type { DraftWords } from '../words/drafts.ts';

/** The recipient, as far as a draft shows it, with the bank's name. */
export const recipientText = (
  { recipient }: Pick<DraftRowFragment, 'recipient'>,
  bank = '',
): string => {
  const { phoneMask, accountMask, cardMask, bik, fullName } = recipient;
  const card = cardMask && `**** ${cardMask}`;
  return [phoneMask ?? accountMask ?? card, bank, bik, fullName].filter(Boolean).join(' · ');
};

/** Why an approval was refused; known cases of drafts have their own texts. */
export const refusalOutcome = (own: DraftWords, refusal: Refusal): Outcome => {
  const { code, message } = refusal;
  const known: Readonly<Record<string, string>> = own.refusals;
  if (code === 'bad_request' && message.startsWith('card_pan'))
    return { refused: own.refusals.card };
  const text = known[code];
  return text === undefined ? refusedBy(refusal) : { refused: text };
};
