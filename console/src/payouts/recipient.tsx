/** The recipient of a payout: in one line, and whole to who may see it; the audit log has each look. */
import * as graph from '../../../schema/generated/console.ts';
import { ActButton, OutcomeText, useRun } from '../parts/act-form.tsx';
import { send } from '../parts/outcome.tsx';
import type { ObjectId } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { usePermission } from '../viewer.tsx';
import { draftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';

/** The button, and what it has shown. `id`: of a payout or of a draft. */
export const RevealAct = ({ merchantId, id }: ObjectId) => {
  const { granted } = usePermission('payoutRecipientReveal');
  const { isRunning, outcome, run } = useRun(() =>
    send(graph.RevealRecipient, { merchantId, id }, (result) => {
      const { phone, accountNumber, inn } = result.recipient;
      const parts = [phone ?? accountNumber, inn && `${own.inn} ${inn}`];
      return parts.filter(Boolean).join(' · ');
    }),
  );
  if (outcome && 'done' in outcome)
    return (
      <p className="mono" role="status">
        {outcome.done}
      </p>
    );
  return (
    <>
      <ActButton permission="payoutRecipientReveal" onPress={() => !isRunning && run()}>
        {own.reveal}
      </ActButton>
      {granted && <span className="quiet">{own.revealHint}</span>}
      {outcome && <OutcomeText outcome={outcome} isRepeated />}
    </>
  );
};

/** The phone, account or card's end, and the name. */
export const recipientOf = ({
  recipient,
  recipientCardMask,
}: Pick<graph.PayoutRowFragment, 'recipient' | 'recipientCardMask'>): string =>
  [recipient.phone ?? recipient.accountNumber ?? recipientCardMask, recipient.fullName]
    .filter(Boolean)
    .join(' · ');

/** The name, or the member id until the names are known; empty without a bank. */
export const useBankName = (bankId: string | null): string => {
  const { data } = useAsk(graph.SbpBanks, {}, { pause: bankId === null });
  const bank = data?.sbpBanks.find(({ memberId }) => memberId === bankId);
  return (words.language === 'ru' ? bank?.name : bank?.nameEn) ?? bankId ?? '';
};

/** The recipient, as far as a draft shows it, with the bank's name. */
export const recipientText = (
  { recipient }: Pick<graph.DraftRowFragment, 'recipient'>,
  bank = '',
): string => {
  const { phoneMask, accountMask, cardMask, bik, fullName } = recipient;
  const card = cardMask && `**** ${cardMask}`;
  return [phoneMask ?? accountMask ?? card, bank, bik, fullName].filter(Boolean).join(' · ');
};
