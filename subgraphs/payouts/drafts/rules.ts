/** The recipient of a draft, as its readers see it. */
import { lastFour, maskedPhone } from '../../rules/recipient.ts';

type Text = string | null;

/** The stored part of a draft's recipient. */
interface DraftRecipient {
  readonly recipientPhone: Text;
  readonly recipientBankId: Text;
  readonly recipientName: Text;
  readonly recipientCardMask: Text;
  readonly recipientAccount: Text;
  readonly recipientBik: Text;
  readonly recipientInn: Text;
}

/**
 * A recipient as shown to readers of the draft: a phone, an account and an INN by their last
 * digits. Bank and name are whole: the approver checks them.
 */
export const shownRecipient = (kept: DraftRecipient) => ({
  phoneMask: kept.recipientPhone && maskedPhone(kept.recipientPhone),
  bankId: kept.recipientBankId,
  accountMask: lastFour(kept.recipientAccount),
  bik: kept.recipientBik,
  innMask: lastFour(kept.recipientInn),
  fullName: kept.recipientName,
  cardMask: kept.recipientCardMask,
});
