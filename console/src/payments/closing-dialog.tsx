/** Creates the closing receipt of a prepayment from the items of the payment's receipt. */
import { useState } from 'react';
import { useMutation } from 'urql';
import {
  CloseReceipt,
  ReceiptTerms,
  type ReceiptTermsQuery,
} from '../../../schema/generated/console.ts';
import { amountText, money, readAmount } from '../amounts.ts';
import { actOnce } from '../parts/act-once.ts';
import { outcomeOf, refusedBy } from '../parts/outcome.ts';
import { TextField } from '../parts/fields.tsx';
import { Modal } from '../parts/modal.tsx';
import { Failure } from '../parts/states.tsx';
import { Skeleton } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { PolicyForm } from '../policies/act.tsx';
import { useClosingWords } from '../words/receipts.ts';
import { useWords } from '../words/words.ts';
import { readItems, type TypedItem } from './closing-items.ts';
import { Items, readBuyer } from './receipt-items.tsx';
import type { PaymentDetails } from './payment-details.ts';

type Terms = NonNullable<ReceiptTermsQuery['payment']>;

interface DialogProps {
  readonly payment: Pick<PaymentDetails, 'merchantId' | 'id'>;
  readonly close: () => void;
}

const ClosingForm = ({
  payment: { merchantId, id: paymentId },
  close,
  terms,
}: DialogProps & { readonly terms: Terms }) => {
  const words = useClosingWords();
  const { locale } = useWords();
  const { currency } = terms;
  const [to, setTo] = useState('');
  const of = terms.receipts.find(({ type }) => type === 'payment');
  const [typed, setTyped] = useState<readonly TypedItem[]>(() =>
    (of?.items ?? []).map((item) => ({
      item,
      quantity: item.quantity,
      price: amountText(item.price, currency),
    })),
  );
  const [, send] = useMutation(CloseReceipt);
  const customer = readBuyer(to);
  const read = readItems(typed, (text) => readAmount(text, currency));
  const due = terms.amountCaptured - terms.amountRefunded;
  const sum = money(read?.sum ?? 0, currency, locale);
  const amount = money(due, currency, locale);
  const isEven = read?.sum === due && read.items.length > 0;
  const mask = of?.customer.email ?? of?.customer.phone ?? null;
  return (
    <PolicyForm
      title={words.title}
      consequence={words.text(amount)}
      isReady={customer !== null && isEven}
      close={close}
      act={async () => {
        const receipt = {
          customer: customer ?? {},
          taxSystem: of?.taxSystem ?? null,
          items: [...(read?.items ?? [])],
        };
        return actOnce({ of: `closing/${paymentId}`, amount: due }, async (key) =>
          outcomeOf(
            await send({ merchantId, paymentId, receipt, key }),
            ({ receiptClose: result }) =>
              result.__typename === 'Refused' ? refusedBy(result) : { done: words.done },
          ),
        );
      }}
    >
      <TextField
        label={words.to}
        value={to}
        set={setTo}
        hint={mask === null ? words.toNew : words.toHint(mask)}
      />
      <Items typed={typed} currency={currency} set={setTyped} />
      <p role="status" className={isEven ? 'quiet' : 'bad'}>
        {isEven ? words.sum(sum) : words.differs(sum, amount)}
      </p>
    </PolicyForm>
  );
};

/** The dialog. */
export const ClosingDialog = ({ payment, close }: DialogProps) => {
  const words = useClosingWords();
  const { merchantId, id } = payment;
  const { data, error, again } = useAsk(ReceiptTerms, { merchantId, id }, false, 'network-only');
  const [terms, setTerms] = useState<Terms | null>(null);
  // Input is not overwritten by later reads.
  if (terms === null && data?.payment) setTerms(data.payment);
  if (terms) return <ClosingForm payment={payment} close={close} terms={terms} />;
  return (
    <Modal title={words.title} isOpen onClose={close}>
      {error ? <Failure error={error} again={again} /> : <Skeleton />}
    </Modal>
  );
};
