/** The actions of a proposed refund, in the list of proposals and on home. */
import { money } from '../format.ts';
import * as graph from '../../../schema/generated/console.ts';
import { DecideActs } from '../parts/decide.tsx';
import { send } from '../parts/outcome.tsx';
import { askOnce } from '../parts/use-ask.ts';
import { useViewer } from '../viewer.tsx';
import { refundDraftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';

export const RefundDraftActs = (props: { readonly draft: graph.RefundDraftRowFragment }) => {
  const { role } = useViewer();
  const { merchantId, id, isMine, amount, currency, payment } = props.draft;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? words.acts.buyer;
  return (
    <DecideActs
      {...props}
      own={own}
      statusNow={async () =>
        (await askOnce(graph.RefundDraft, { merchantId, id }))?.refundDraft?.status
      }
      approve={(refusal) => ({
        permission: 'refundDraftApprove',
        consequence: own.approveText(money(amount, currency), to),
        // The draft's id is the idempotency key, so pressing twice refunds once.
        act: () =>
          send(
            graph.ApproveRefundDraft,
            { merchantId, id },
            ({ refund }) => own.approvedNow(words.refund.statuses[refund.status]),
            refusal,
          ),
      })}
      reject={{
        permission: 'refundDraftReject',
        barred: role === 'support' && !isMine ? own.notOwn : undefined,
        act: (reason, refusal) =>
          send(graph.RejectRefundDraft, { merchantId, id, reason }, own.rejectedNow, refusal),
      }}
    />
  );
};
