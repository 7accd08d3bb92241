/** Makes a payment link. */
import { linkLifetime_max_days } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { readAmount } from '../amounts.ts';
import { CheckField, PickField, TextField, useTyped } from '../parts/fields.tsx';
import { send } from '../parts/outcome.tsx';
import { ActForm } from '../parts/act-form.tsx';
import { sellingWords as own } from '../words/selling.ts';
import { words } from '../words/words.ts';
import {
  currency,
  MethodField,
  noReceipt,
  ReceiptFields,
  receiptInput,
  ShopField,
  ShopsButton,
  useKey,
  type Method,
  type Shops,
} from './fields.tsx';

const day_ms = 86_400_000;

const nothingTyped = {
  sum: 'fixed' as 'fixed' | 'open',
  amount: '',
  least: '',
  most: '',
  description: '',
  order: '',
  method: 'any' as Method,
  uses: 'once' as 'once' | 'endless',
  days: '30',
  isManual: false,
  receipt: noReceipt,
};
type Typed = typeof nothingTyped;

/** An amount that may be left out; undefined while it cannot be read. */
const optional = (text: string): number | null | undefined =>
  text.trim() === '' ? null : (readAmount(text, currency) ?? undefined);

const amountsOf = ({
  sum,
  amount,
  least,
  most,
}: Typed): Pick<graph.PaymentLinkCreateInput, 'amount' | 'amountMin' | 'amountMax'> | null => {
  if (sum === 'fixed') {
    const fixed = readAmount(amount, currency);
    return fixed === null || fixed <= 0 ? null : { amount: fixed };
  }
  const [amountMin, amountMax] = [optional(least), optional(most)];
  return amountMin === undefined || amountMax === undefined ? null : { amountMin, amountMax };
};

/** The link as the graph takes it; null while something is missing or wrong. */
const inputOf = (
  typed: Typed,
  isRequired: boolean,
  item: string,
): Omit<graph.PaymentLinkCreateInput, 'expiresAt'> | null => {
  const { description, order, method, uses, days, isManual } = typed;
  const amounts = amountsOf(typed);
  const count = Number(days.trim() || 'none');
  if (!amounts || !Number.isInteger(count) || count < 1 || count > linkLifetime_max_days)
    return null;
  const price = amounts.amount ?? 0;
  const named = { description: description.trim() || item, price };
  const isOpen = typed.sum === 'open';
  // Only a fixed amount has a receipt: it is the sum of its items.
  const receipt = isOpen ? null : receiptInput(typed.receipt, isRequired, named);
  if (receipt === undefined) return null;
  return {
    ...amounts,
    description: description.trim() || null,
    orderId: order.trim() || null,
    method,
    capture: isManual ? 'manual' : 'automatic',
    uses: uses === 'once' ? 1 : null,
    receipt,
  };
};

type FieldsProps = Pick<ReturnType<typeof useTyped<Typed>>, 'typed' | 'held'>;

const SumFields = ({ typed, held }: FieldsProps) => (
  <>
    <PickField
      label={own.sum}
      {...held('sum')}
      options={[
        ['fixed', own.sums.fixed],
        ['open', own.sums.open],
      ]}
    />
    {typed.sum === 'fixed' ? (
      <TextField label={words.acts.amount(currency)} {...held('amount')} isNumber />
    ) : (
      <>
        <TextField label={own.least(currency)} {...held('least')} isNumber />
        <TextField label={own.most(currency)} {...held('most')} isNumber />
      </>
    )}
  </>
);

const TermFields = ({ held }: Pick<FieldsProps, 'held'>) => (
  <>
    <TextField
      label={words.columns.description}
      hint={own.descriptionHint}
      {...held('description')}
    />
    <TextField label={own.order} hint={own.orderHint} {...held('order')} />
    <MethodField {...held('method')} />
    <PickField
      label={own.uses}
      {...held('uses')}
      options={[
        ['once', own.usesOnce],
        ['endless', own.usesEndless],
      ]}
    />
    <TextField label={own.days} hint={own.daysHint} {...held('days')} isNumber />
    <CheckField label={own.manual} {...held('isManual')} />
  </>
);

const Dialog = ({ shops }: { readonly shops: Shops }) => {
  const { mode } = useAddress();
  const key = useKey();
  const [shop, setShop] = useState(shops[0]);
  const { typed, held } = useTyped(nothingTyped);
  const input = inputOf(typed, shop.receiptsRequired, own.item);
  // Fixed when the dialog opens: a repeated call is the same one.
  const [opened_ms] = useState(() => Date.now());
  const expiresAt = new Date(opened_ms + Number(typed.days) * day_ms);
  return (
    <ActForm
      isAudited
      title={own.link}
      consequence={own.linkText[mode]}
      isReady={input !== null}
      isRepeated
      act={() =>
        send(
          graph.MakeLink,
          {
            merchantId: shop.merchantId,
            shopId: shop.id,
            mode,
            input: { ...input, expiresAt: expiresAt.toISOString() },
            idempotency: { key },
          },
          ({ link }) => ({ done: own.linkDone, copy: link.url }),
        )
      }
    >
      <ShopField shops={shops} value={shop} set={setShop} />
      <SumFields typed={typed} held={held} />
      <TermFields held={held} />
      {typed.sum === 'fixed' && (
        <ReceiptFields {...held('receipt')} isRequired={shop.receiptsRequired} />
      )}
    </ActForm>
  );
};

export const NewLinkButton = () => (
  <ShopsButton
    title={own.link}
    permission="linkCreate"
    dialog={(shops) => <Dialog shops={shops} />}
  />
);
