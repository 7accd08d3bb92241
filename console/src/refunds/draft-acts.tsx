/** The actions of a proposed refund, in the list of proposals and on home. */
import { money } from '../format.ts';
import { useClient } from 'urql';
import * as graph from '../../../schema/generated/console.ts';
import { ActForm, type Closable } from '../parts/act-form.tsx';
import { DecideActs, type DecideProps, type DraftRefusal } from '../parts/decide.tsx';
import { useSend } from '../parts/outcome.tsx';
import { useViewer } from '../viewer.tsx';
import { refundDraftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';

type Row = graph.RefundDraftRowFragment;

type DialogProps = Closable & { readonly draft: Row; readonly refusal: DraftRefusal };

/** Approves the draft. Its id is the idempotency key, so pressing twice refunds once. */
const ApproveDialog = ({ draft, refusal, close }: DialogProps) => {
  const approve = useSend(graph.ApproveRefundDraft);
  const { merchantId, id, amount, currency, payment } = draft;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? words.acts.buyer;
  return (
    <ActForm
      title={own.approve}
      consequence={own.approveText(money(amount, currency), to)}
      close={close}
      act={() =>
        approve(
          { merchantId, id },
          ({ refund }) => own.approvedNow(words.refund.statuses[refund.status]),
          refusal,
        )
      }
    />
  );
};

export const RefundDraftActs = (props: DecideProps<Row>) => {
  const { role } = useViewer();
  const client = useClient();
  const send = useSend(graph.RejectRefundDraft);
  const { draft } = props;
  const { merchantId, id, isMine } = draft;
  const ask = () =>
    client
      .query(graph.RefundDraft, { merchantId, id }, { requestPolicy: 'network-only' })
      .toPromise();
  return (
    <DecideActs
      {...props}
      own={own}
      statusNow={async () => (await ask()).data?.refundDraft?.status}
      approve={{
        permission: 'refundDraftApprove',
        dialog: (close, refusal) => <ApproveDialog {...{ draft, refusal, close }} />,
      }}
      reject={{
        permission: 'refundDraftReject',
        barred: role === 'support' && !isMine ? own.notOwn : undefined,
        act: (reason, refusal) => send({ merchantId, id, reason }, own.rejectedNow, refusal),
      }}
    />
  );
};
