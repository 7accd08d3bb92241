/** The actions of a proposed refund, in the list of proposals and on home. */
import { useClient } from 'urql';
import {
  ApproveRefundDraft,
  RefundDraft,
  RejectRefundDraft,
  type RefundDraftRowFragment,
} from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { ActForm } from '../parts/act-form.tsx';
import { DecideActs, refusalOfDraft, RejectForm } from '../parts/decide.tsx';
import { type Outcome, type Refusal, useSend } from '../parts/outcome.tsx';
import { useViewer } from '../viewer.tsx';
import { useRefundDraftWords } from '../words/drafts.ts';
import { useWords } from '../words/words.ts';

type Row = RefundDraftRowFragment;

interface DialogProps {
  readonly draft: Row;
  readonly close: () => void;
}

const useRefusal = ({ merchantId, id }: Row) => {
  const own = useRefundDraftWords();
  const client = useClient();
  const of = { merchantId, id };
  const ask = () => client.query(RefundDraft, of, { requestPolicy: 'network-only' });
  return (refusal: Refusal): Promise<Outcome> =>
    refusalOfDraft(own, refusal, async () => (await ask().toPromise()).data?.refundDraft?.status);
};

/** Approves the draft. Its id is the idempotency key, so pressing twice refunds once. */
const ApproveDialog = ({ draft, close }: DialogProps) => {
  const words = useWords();
  const own = useRefundDraftWords();
  const approve = useSend(ApproveRefundDraft);
  const refusal = useRefusal(draft);
  const { merchantId, id, amount, currency, payment } = draft;
  const to = payment.customerCardMask ?? payment.customerPhoneMask ?? words.acts.buyer;
  return (
    <ActForm
      title={own.approve}
      consequence={own.approveText(money(amount, currency, words.locale), to)}
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

const RejectDialog = ({ draft, close }: DialogProps) => {
  const own = useRefundDraftWords();
  const reject = useSend(RejectRefundDraft);
  const refusal = useRefusal(draft);
  const { merchantId, id } = draft;
  return (
    <RejectForm
      own={own}
      close={close}
      reject={(reason) => reject({ merchantId, id, reason }, own.rejectedNow, refusal)}
    />
  );
};

export const RefundDraftActs = ({
  draft,
  ...rest
}: {
  readonly draft: Row;
  readonly again: () => void;
  readonly hold?: (isHeld: boolean) => void;
}) => {
  const own = useRefundDraftWords();
  const { role } = useViewer();
  return (
    <DecideActs
      status={draft.status}
      own={own}
      approve={{
        permission: 'refundDraftApprove',
        barred: draft.isMine ? own.own : undefined,
        dialog: (close) => <ApproveDialog draft={draft} close={close} />,
      }}
      reject={{
        permission: 'refundDraftReject',
        barred: role === 'support' && !draft.isMine ? own.notOwn : undefined,
        dialog: (close) => <RejectDialog draft={draft} close={close} />,
      }}
      {...rest}
    />
  );
};
