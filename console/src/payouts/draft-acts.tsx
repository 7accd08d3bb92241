/**
 * Proposing a draft, and the dialogs that decide one. They state the consequences; Enter in a field does not confirm.
 */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { exactMoment, money } from '../format.ts';
import { ActForm } from '../parts/act-form.tsx';
import { DecideActs, refusalOutcome, type DraftRefusal } from '../parts/decide.tsx';
import { TextField } from '../parts/fields.tsx';
import { actOnce, send, type Outcome } from '../parts/outcome.tsx';
import { askOnce } from '../parts/use-ask.ts';
import { Facts, Money } from '../parts/texts.tsx';
import { draftWords as own } from '../words/drafts.ts';
import { words } from '../words/words.ts';
import { Available } from './available.tsx';
import { amountOf, inputOf, type Typed } from './draft-fields.ts';
import { useBankName, RevealAct, recipientText } from './recipient.tsx';

/** Proposes a payout, under one key until an answer arrives; `of` names it for the browser. */
export const proposeDraft = (
  of: string,
  asked: Omit<graph.CreateDraftMutationVariables, 'input' | 'reason' | 'key'>,
  typed: Typed,
  reason: string,
): Promise<Outcome> => {
  const input = inputOf(typed);
  return actOnce({ of, amount: amountOf(typed) ?? 0 }, (key) =>
    send(
      graph.CreateDraft,
      { ...asked, input, reason: reason || null, key },
      own.proposedNow,
      (refusal) => refusalOutcome(own, refusal),
    ),
  );
};

interface DialogProps {
  readonly draft: graph.DraftRowFragment;
  readonly refusal: DraftRefusal;
}

/** What the approver decides: who asked for what, of whose money. */
const Asked = ({ draft }: { readonly draft: graph.DraftRowFragment }) => {
  const { amount, currency, method, recipient, reason, createdBy, createdAt, shop } = draft;
  const bank = useBankName(recipient.bankId);
  return (
    <>
      <Facts
        facts={[
          [words.columns.amount, <Money key="amount" amount={amount} currency={currency} />],
          [words.columns.recipient, recipientText(draft)],
          [words.payment.bank, bank],
          [words.columns.method, words.payout.methods[method]],
          [own.reason, reason ?? own.noReason],
          [own.proposed, `${own.by(createdBy)}, ${exactMoment(createdAt)}`],
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
const ApproveDialog = ({ draft, refusal }: DialogProps) => {
  const [card, setCard] = useState('');
  const bank = useBankName(draft.recipient.bankId);
  const { merchantId, id, amount, currency, method, recipient } = draft;
  const digits = card.replaceAll(/\s/g, '');
  const isCard = method === 'payouts_card';
  const isReady = !isCard || /^\d{16,18}$/.test(digits);
  return (
    <ActForm
      title={own.approve}
      consequence={own.approveText(money(amount, currency), recipientText(draft, bank))}
      isReady={isReady}
      act={() =>
        send(
          graph.ApproveDraft,
          { merchantId, id, cardPan: isCard ? digits : null },
          ({ payout }) => own.approvedNow(words.payout.statuses[payout.status]),
          refusal,
        )
      }
    >
      <Asked draft={draft} />
      {isCard ? (
        <TextField
          label={own.cardAgain(recipient.cardMask ?? '')}
          hint={own.cardAgainHint}
          value={card}
          set={setCard}
          inputMode="numeric"
        />
      ) : (
        <div className="acts">
          <RevealAct merchantId={merchantId} id={id} />
        </div>
      )}
    </ActForm>
  );
};

export const DraftActs = (props: { readonly draft: graph.DraftRowFragment }) => {
  const { draft } = props;
  const { merchantId, id } = draft;
  return (
    <DecideActs
      {...props}
      own={own}
      statusNow={async () => (await askOnce(graph.Draft, { merchantId, id }))?.payoutDraft?.status}
      approve={(refusal) => ({
        permission: 'payoutDraftApprove',
        dialog: <ApproveDialog draft={draft} refusal={refusal} />,
      })}
      reject={{
        permission: 'payoutDraftReject',
        act: (reason, refusal) =>
          send(graph.RejectDraft, { merchantId, id, reason }, own.rejectedNow, refusal),
      }}
    />
  );
};
