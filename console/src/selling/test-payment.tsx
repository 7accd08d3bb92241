/** Makes a payment in test mode, as a merchant's program would. */
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { readAmount } from '../amounts.ts';
import { ActForm } from '../parts/act-form.tsx';
import { CheckField, PickField, TextField, useTyped } from '../parts/fields.tsx';
import { send } from '../parts/outcome.tsx';
import { ObjectLink } from '../parts/texts.tsx';
import { sellingWords as own } from '../words/selling.ts';
import { optionsOf } from '../words/table.ts';
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

type Made = Extract<
  graph.MakeTestPaymentMutation['paymentCreate'],
  { readonly __typename: 'PaymentCreated' }
>;

type PlannedOutcome = keyof typeof own.outcomes;

const initial = {
  amount: '100',
  method: 'any' as Method,
  outcome: 'succeeded' as PlannedOutcome,
  isManual: false,
  receipt: noReceipt,
};

/** The outcome as the simulated bank reads it from the metadata. */
const planOf = (outcome: PlannedOutcome): Readonly<Record<string, string>> =>
  outcome === 'succeeded' || outcome === 'requires_action' || outcome === 'pending'
    ? { simulator_outcome: outcome }
    : { simulator_outcome: 'failed', simulator_failure_code: outcome };

const MadePayment = ({ made: { payment, paymentUrl } }: { readonly made: Made }) => {
  const { merchantId, id } = payment;
  return (
    <div className="acts">
      <a className="button main" href={paymentUrl} target="_blank" rel="noreferrer">
        {own.openPage}
      </a>
      <ObjectLink className="button" merchantId={merchantId} id={id}>
        {own.openPayment}
      </ObjectLink>
    </div>
  );
};

const Dialog = ({ shops }: { readonly shops: Shops }) => {
  const key = useKey();
  const [shop, setShop] = useState(shops[0]);
  const { typed, held } = useTyped(initial);
  const [made, setMade] = useState<Made | null>(null);
  const price = readAmount(typed.amount, currency) ?? 0;
  const item = { description: own.item, price };
  const given = receiptInput(typed.receipt, shop.receiptsRequired, item);
  return (
    <ActForm
      title={own.test}
      consequence={own.testText}
      isReady={price > 0 && given !== undefined}
      isRepeated
      result={made && <MadePayment made={made} />}
      act={() =>
        send(
          graph.MakeTestPayment,
          {
            merchantId: shop.merchantId,
            shopId: shop.id,
            input: {
              amount: price,
              method: typed.method,
              capture: typed.isManual ? 'manual' : 'automatic',
              description: own.item,
              metadata: planOf(typed.outcome),
              receipt: given ?? null,
            },
            idempotency: { key },
          },
          (result) => {
            setMade(result);
            return own.testDone(result.payment.publicId);
          },
        )
      }
    >
      <ShopField shops={shops} value={shop} set={setShop} />
      <TextField label={words.acts.amount(currency)} {...held('amount')} isNumber />
      <MethodField {...held('method')} />
      <PickField label={own.outcome} {...held('outcome')} options={optionsOf(own.outcomes)} />
      <CheckField label={own.manual} {...held('isManual')} />
      <ReceiptFields {...held('receipt')} isRequired={shop.receiptsRequired} />
    </ActForm>
  );
};

/** The button; live mode has none. */
export const TestPaymentButton = () => {
  const { mode } = useAddress();
  if (mode !== 'test') return null;
  return (
    <ShopsButton
      title={own.test}
      permission="paymentCreate"
      dialog={(shops) => <Dialog shops={shops} />}
    />
  );
};

/** A command that creates a payment, as `npm start` prints it. */
export const firstPayment = (key: string): string =>
  [
    `curl -s -X POST ${location.origin}/v1/public/payments \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"amount":10000,"order_id":"order-1","description":"Tea and cakes","return_url":"https://example.com/thanks"}'`,
  ].join('\n');
