/** Makes a payment link. */
import { linkLifetime_max_days } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { readAmount } from '../amounts.ts';
import { PickField, TextField } from '../parts/fields.tsx';
import { useSend } from '../parts/outcome.tsx';
import { PolicyForm } from '../parts/act-form.tsx';
import { useSellingWords } from '../words/selling.ts';
import { useWords } from '../words/words.ts';
import {
  CheckField,
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

interface FieldsProps {
  readonly typed: Typed;
  readonly type: (change: Partial<Typed>) => void;
}

const SumFields = ({ typed, type }: FieldsProps) => {
  const { acts } = useWords();
  const own = useSellingWords();
  return (
    <>
      <PickField
        label={own.sum}
        value={typed.sum}
        set={(sum) => type({ sum })}
        options={[
          ['fixed', own.sums.fixed],
          ['open', own.sums.open],
        ]}
      />
      {typed.sum === 'fixed' ? (
        <TextField
          label={acts.amount(currency)}
          value={typed.amount}
          set={(amount) => type({ amount })}
          isNumber
        />
      ) : (
        <>
          <TextField
            label={own.least(currency)}
            value={typed.least}
            set={(least) => type({ least })}
            isNumber
          />
          <TextField
            label={own.most(currency)}
            value={typed.most}
            set={(most) => type({ most })}
            isNumber
          />
        </>
      )}
    </>
  );
};

const TermFields = ({ typed, type }: FieldsProps) => {
  const { columns } = useWords();
  const own = useSellingWords();
  return (
    <>
      <TextField
        label={columns.description}
        value={typed.description}
        set={(description) => type({ description })}
        hint={own.descriptionHint}
      />
      <TextField
        label={own.order}
        value={typed.order}
        set={(order) => type({ order })}
        hint={own.orderHint}
      />
      <MethodField value={typed.method} set={(method) => type({ method })} />
      <PickField
        label={own.uses}
        value={typed.uses}
        set={(uses) => type({ uses })}
        options={[
          ['once', own.usesOnce],
          ['endless', own.usesEndless],
        ]}
      />
      <TextField
        label={own.days}
        value={typed.days}
        set={(days) => type({ days })}
        hint={own.daysHint}
        isNumber
      />
      <CheckField
        label={own.manual}
        value={typed.isManual}
        set={(isManual) => type({ isManual })}
      />
    </>
  );
};

const Dialog = ({ shops, close }: { readonly shops: Shops; readonly close: () => void }) => {
  const own = useSellingWords();
  const { mode } = useAddress();
  const key = useKey();
  const [shop, setShop] = useState(shops[0]);
  const [typed, setTyped] = useState(nothingTyped);
  const make = useSend(graph.MakeLink);
  const type = (change: Partial<Typed>): void => setTyped((before) => ({ ...before, ...change }));
  const input = inputOf(typed, shop.receiptsRequired, own.item);
  // Fixed when the dialog opens: a repeated call is the same one.
  const [opened_ms] = useState(() => Date.now());
  const expiresAt = new Date(opened_ms + Number(typed.days) * day_ms);
  return (
    <PolicyForm
      title={own.link}
      consequence={own.linkText[mode]}
      isReady={input !== null}
      close={close}
      isRepeated
      act={() =>
        make(
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
      <SumFields typed={typed} type={type} />
      <TermFields typed={typed} type={type} />
      {typed.sum === 'fixed' && (
        <ReceiptFields
          value={typed.receipt}
          set={(receipt) => type({ receipt })}
          isRequired={shop.receiptsRequired}
        />
      )}
    </PolicyForm>
  );
};

export const NewLinkButton = ({ again }: { readonly again: () => void }) => {
  const own = useSellingWords();
  return (
    <ShopsButton
      name={own.link}
      permission="linkCreate"
      dialog={(shops, close) => (
        <Dialog
          shops={shops}
          close={() => {
            close();
            again();
          }}
        />
      )}
    />
  );
};
