/**
 * The dialogs that decide a draft. They state the consequences; Enter in a field does not confirm.
 */
import { useState } from 'react';
import { useClient } from 'urql';
import {
  ApproveDraft,
  Draft,
  RejectDraft,
  type DraftRowFragment,
} from '../../../schema/generated/console.ts';
import { money } from '../amounts.ts';
import { exactMoment } from '../format.ts';
import { ActForm } from '../parts/act-form.tsx';
import { refusalOfDraft, RejectForm, DecideActs } from '../parts/decide.tsx';
import { type Outcome, type Refusal, useSend } from '../parts/outcome.tsx';
import { Facts, Money } from '../parts/texts.tsx';
import { useDraftWords, type DraftWords } from '../words/drafts.ts';
import { useWords } from '../words/words.ts';
import { Available } from './available.tsx';
import { useBankName, RevealAct, recipientText } from './recipient.tsx';

interface DialogProps {
  readonly draft: DraftRowFragment;
  readonly close: () => void;
}

const useRefusal = ({ merchantId, id }: DraftRowFragment, own: DraftWords) => {
  const client = useClient();
  const ask = () => client.query(Draft, { merchantId, id }, { requestPolicy: 'network-only' });
  return (refusal: Refusal): Promise<Outcome> =>
    refusalOfDraft(own, refusal, async () => (await ask().toPromise()).data?.payoutDraft?.status);
};

/** What the approver decides: who asked for what, of whose money. */
const Asked = ({ draft }: { readonly draft: DraftRowFragment }) => {
  const words = useWords();
  const own = useDraftWords();
  const { amount, currency, method, recipient, reason, createdBy, createdAt, shop } = draft;
  const bank = useBankName(recipient.bankId);
  return (
    <>
      <Facts
        facts={[
          [words.columns.amount, <Money key="amount" amount={amount} currency={currency} />],
          [own.recipient, recipientText(draft)],
          [words.payment.bank, bank],
          [words.columns.method, words.payout.methods[method]],
          [own.reason, reason ?? own.noReason],
          [own.proposed, `${own.by(createdBy)}, ${exactMoment(createdAt, words.locale)}`],
          [words.columns.shop, shop.name],
        ]}
      />
      <Available
        merchantId={draft.merchantId}
        mode={draft.mode}
        items={[{ shopId: draft.shopId, method, amount }]}
      />
    </>
  );
};

/** Approves the draft. Its id is the idempotency key, so pressing twice pays once. */
const ApproveDialog = ({ draft, close }: DialogProps) => {
  const words = useWords();
  const own = useDraftWords();
  const [card, setCard] = useState('');
  const approve = useSend(ApproveDraft);
  const refusal = useRefusal(draft, own);
  const bank = useBankName(draft.recipient.bankId);
  const { merchantId, id, amount, currency, method, recipient } = draft;
  const digits = card.replaceAll(/\s/g, '');
  const isCard = method === 'payouts_card';
  const isReady = !isCard || /^\d{16,18}$/.test(digits);
  return (
    <ActForm
      title={own.approve}
      consequence={own.approveText(
        money(amount, currency, words.locale),
        recipientText(draft, bank),
      )}
      isReady={isReady}
      close={close}
      act={() =>
        approve(
          { merchantId, id, cardPan: isCard ? digits : null },
          ({ payout }) => own.approvedNow(words.payout.statuses[payout.status]),
          refusal,
        )
      }
    >
      <Asked draft={draft} />
      {!isCard && (
        <div className="acts">
          <RevealAct merchantId={merchantId} id={id} />
        </div>
      )}
      {isCard && (
        <label className="field">
          {own.cardAgain(recipient.cardMask ?? '')}
          <input
            inputMode="numeric"
            autoComplete="off"
            value={card}
            onChange={(event) => setCard(event.target.value)}
          />
          <span className="quiet">{own.cardAgainHint}</span>
        </label>
      )}
    </ActForm>
  );
};

const RejectDialog = ({ draft, close }: DialogProps) => {
  const own = useDraftWords();
  const reject = useSend(RejectDraft);
  const refusal = useRefusal(draft, own);
  const { merchantId, id } = draft;
  return (
    <RejectForm
      own={own}
      close={close}
      reject={(reason) => reject({ merchantId, id, reason }, own.rejectedNow, refusal)}
    />
  );
};

export const DraftActs = ({
  draft,
  ...rest
}: {
  readonly draft: DraftRowFragment;
  readonly again: () => void;
  readonly hold?: (isHeld: boolean) => void;
}) => {
  const own = useDraftWords();
  return (
    <DecideActs
      status={draft.status}
      own={own}
      approve={{
        permission: 'payoutDraftApprove',
        barred: draft.isMine ? own.own : undefined,
        dialog: (close) => <ApproveDialog draft={draft} close={close} />,
      }}
      reject={{
        permission: 'payoutDraftReject',
        barred: undefined,
        dialog: (close) => <RejectDialog draft={draft} close={close} />,
      }}
      {...rest}
    />
  );
};
