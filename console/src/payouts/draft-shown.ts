/** The texts of a draft. */
import type { DraftRowFragment } from '../../../schema/generated/console.ts';

/** The recipient, as far as a draft shows it, with the bank's name. */
export const recipientText = (
  { recipient }: Pick<DraftRowFragment, 'recipient'>,
  bank = '',
): string => {
  const { phoneMask, accountMask, cardMask, bik, fullName } = recipient;
  const card = cardMask && `**** ${cardMask}`;
  return [phoneMask ?? accountMask ?? card, bank, bik, fullName].filter(Boolean).join(' · ');
};
