/** The dialogs that make a receipt by hand: a refund of items, and the closing of a prepayment. */
import { useState, useId, type ReactNode } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { amountText, readAmount } from '../amounts.ts';
import { phoneOf, money } from '../format.ts';
import { ActForm, closeAct } from '../parts/act-form.tsx';
import { CheckField, TextField, useTyped } from '../parts/fields.tsx';
import { Modal } from '../parts/modal.tsx';
import { actOnce, send } from '../parts/outcome.tsx';
import { Waiting } from '../parts/states.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { closingWords as own } from '../words/receipts.ts';
import { words } from '../words/words.ts';
import { hasReason, ReasonField, type OfPayment, useRefund } from './act-dialogs.tsx';
import { itemsLeft, readItems, type TypedItem } from './closing-items.ts';

/** An e-mail or a phone as the graph accepts it; null when it is neither. */
const readBuyer = (text: string): { email: string } | { phone: string } | null => {
  const typed = text.trim();
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed)) return { email: typed };
  const phone = phoneOf(typed);
  return phone === null ? null : { phone };
};

const Items = ({
  legend,
  typed,
  currency,
  set,
}: {
  readonly legend?: string;
  readonly typed: readonly TypedItem[];
  readonly currency: string;
  readonly set: (typed: readonly TypedItem[]) => void;
}) => {
  const change = (at: number, part: Partial<TypedItem>) =>
    set(typed.map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <fieldset className="items">
      <legend>{legend ?? own.items}</legend>
      {typed.map(({ item, quantity, price }, index) => (
        <fieldset key={index}>
          <legend className="break">{item.description}</legend>
          <TextField
            label={own.quantity}
            value={quantity}
            set={(text) => change(index, { quantity: text })}
            isNumber
          />
          <TextField
            label={own.price(currency)}
            value={price}
            set={(text) => change(index, { price: text })}
            isNumber
          />
        </fieldset>
      ))}
      <span className="quiet">{own.left}</span>
    </fieldset>
  );
};

/*
 * Where the receipt of a part goes: to the address that the payment has, which is not shown whole,
 * or to another one by a choice of its own. One that looks like the payment's needs a second word.
 */

type Buyer = NonNullable<ReturnType<typeof readBuyer>>;

/** The address as receipts show it, in the form of the service. */
const maskOf = (buyer: Buyer): string =>
  'email' in buyer
    ? `${Array.from(buyer.email)[0] ?? ''}***${buyer.email.slice(buyer.email.lastIndexOf('@'))}`
    : `+7 *** ***-${buyer.phone.slice(-4, -2)}-${buyer.phone.slice(-2)}`;

/** The choice. `masks`: the payment's addresses as they are shown; none, where it has no more any. */
const useRecipient = (masks: readonly string[]) => {
  const hasOwn = masks.length > 0;
  const { typed, held } = useTyped({ isOther: !hasOwn, text: '', isSure: false });
  const { isOther, isSure } = typed;
  const buyer = readBuyer(typed.text);
  const isAlike = buyer !== null && masks.some((one) => one === maskOf(buyer));
  const isReady = !isOther || (buyer !== null && (!isAlike || isSure));
  /** Null: that of the payment. */
  const customer = isOther ? buyer : null;
  return { customer, isReady, field: { masks, hasOwn, isAlike, held } };
};

const RecipientField = ({
  masks,
  hasOwn,
  isAlike,
  held,
}: ReturnType<typeof useRecipient>['field']) => {
  const { value: isOther, set: setOther } = held('isOther');
  const name = useId();
  return (
    <>
      {hasOwn && (
        <fieldset className="options">
          <legend>{own.recipient}</legend>
          <label>
            <input type="radio" name={name} checked={!isOther} onChange={() => setOther(false)} />
            {own.ownRecipient(masks.join(', '))}
          </label>
          <label>
            <input type="radio" name={name} checked={isOther} onChange={() => setOther(true)} />
            {own.otherRecipient}
          </label>
        </fieldset>
      )}
      {isOther && <TextField label={own.to} {...held('text')} hint={own.toNew} />}
      {isOther && isAlike && <CheckField label={own.alike} {...held('isSure')} />}
    </>
  );
};

type Terms = NonNullable<graph.ReceiptTermsQuery['payment']>;

const RefundForm = ({ payment, terms }: OfPayment & { readonly terms: Terms }) => {
  const { currency, amountCaptured, amountRefunded, receipts } = terms;
  const [typed, setTyped] = useState<readonly TypedItem[]>(() =>
    itemsLeft(receipts, (price) => amountText(price, currency)),
  );
  const [reason, setReason] = useState('');
  const read = readItems(typed, (text) => readAmount(text, currency), true);
  const amount = read?.sum ?? 0;
  const left = amountCaptured - amountRefunded;
  const fits = amount >= 1 && amount <= left;
  const of = receipts.find(({ type }) => type === 'payment');
  const known = [of?.customer.email, of?.customer.phone];
  const { customer, isReady, field } = useRecipient(known.flatMap((mask) => mask ?? []));
  // A full refund needs no receipt other than the payment's.
  const isWhole = amount === amountCaptured;
  const receipt =
    isWhole || !read
      ? null
      : { customer, taxSystem: of?.taxSystem ?? null, items: [...read.items] };
  const { title, consequence, isPending, isProposed, giveBack } = useRefund(payment, amount);
  const sum = money(amount, currency);
  return (
    <ActForm
      title={title}
      consequence={consequence}
      isReady={fits && hasReason(reason, amount, isProposed) && (isWhole || isReady)}
      isPending={isPending}
      act={() => giveBack(reason.trim(), receipt)}
    >
      <p className="quiet">{own.returnedText}</p>
      <Items legend={own.returned} typed={typed} currency={currency} set={setTyped} />
      <p role="status" className={fits ? 'quiet' : 'bad'}>
        {fits ? own.sum(sum) : own.more(sum, money(left, currency))}
      </p>
      {!isWhole && <RecipientField {...field} />}
      <ReasonField reason={reason} set={setReason} amount={amount} isProposed={isProposed} />
    </ActForm>
  );
};

/** Loads the receipts of the payment; what is typed is not overwritten by later reads. */
const WithTerms = ({
  payment: { merchantId, id },
  title,
  children,
}: OfPayment & {
  readonly title: string;
  readonly children: (terms: Terms) => ReactNode;
}) => {
  const { data, error } = useAsk(
    graph.ReceiptTerms,
    { merchantId, id },
    { requestPolicy: 'network-only' },
  );
  const [terms, setTerms] = useState<Terms | null>(null);
  if (terms === null && data?.payment) setTerms(data.payment);
  if (terms) return children(terms);
  return (
    <Modal title={title} onClose={closeAct}>
      {<Waiting error={error} />}
    </Modal>
  );
};

export const RefundItemsDialog = (of: OfPayment) => (
  <WithTerms {...of} title={words.acts.refund}>
    {(terms) => <RefundForm {...of} terms={terms} />}
  </WithTerms>
);

const ClosingForm = ({
  payment: { merchantId, id: paymentId },
  terms,
}: OfPayment & { readonly terms: Terms }) => {
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
  const customer = readBuyer(to);
  const read = readItems(typed, (text) => readAmount(text, currency));
  const due = terms.amountCaptured - terms.amountRefunded;
  const sum = money(read?.sum ?? 0, currency);
  const amount = money(due, currency);
  const isEven = read?.sum === due && read.items.length > 0;
  const mask = of?.customer.email ?? of?.customer.phone ?? null;
  return (
    <ActForm
      isAudited
      title={own.title}
      consequence={own.text(amount)}
      isReady={customer !== null && isEven}
      act={async () => {
        const receipt = {
          customer: customer ?? {},
          taxSystem: of?.taxSystem ?? null,
          items: [...(read?.items ?? [])],
        };
        return actOnce({ of: `closing/${paymentId}`, amount: due }, (key) =>
          send(graph.CloseReceipt, { merchantId, paymentId, receipt, key }, own.done),
        );
      }}
    >
      <TextField
        label={own.to}
        value={to}
        set={setTo}
        hint={mask === null ? own.toNew : own.toHint(mask)}
      />
      <Items typed={typed} currency={currency} set={setTyped} />
      <p role="status" className={isEven ? 'quiet' : 'bad'}>
        {isEven ? own.sum(sum) : own.differs(sum, amount)}
      </p>
    </ActForm>
  );
};

export const ClosingDialog = (of: OfPayment) => (
  <WithTerms {...of} title={own.title}>
    {(terms) => <ClosingForm {...of} terms={terms} />}
  </WithTerms>
);
