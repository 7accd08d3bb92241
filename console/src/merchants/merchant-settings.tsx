/** A merchant's settings: its name, its rate limit, new shops. */
import { rateBurst_max, ratePerSecond_max } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { amountText, readAmount } from '../amounts.ts';
import { wholeNumber, money } from '../format.ts';
import { PolicyForm, useActs, type Again, type Closable } from '../parts/act-form.tsx';
import { useSend } from '../parts/outcome.tsx';
import { Facts } from '../parts/texts.tsx';
import { TextField } from '../parts/fields.tsx';
import { settingsWords as own } from '../words/merchant-settings.ts';
import { words } from '../words/words.ts';

interface OfMerchant {
  readonly merchant: NonNullable<graph.MerchantQuery['merchant']>;
}
type DialogProps = OfMerchant & Closable;

/** An empty field is null; a number out of bounds is undefined. */
const readCount = (text: string, max: number): number | null | undefined => {
  if (text.trim() === '') return null;
  const count = Number(text.trim());
  return Number.isInteger(count) && count >= 1 && count <= max ? count : undefined;
};

const LimitDialog = ({ merchant: { id: merchantId, rateLimit }, close }: DialogProps) => {
  const [rate, setRate] = useState(String(rateLimit.perSecond));
  const [most, setMost] = useState(String(rateLimit.burst));
  const save = useSend(graph.LimitMerchant);
  const perSecond = readCount(rate, ratePerSecond_max);
  const burst = readCount(most, rateBurst_max);
  const isReady =
    perSecond !== undefined && burst !== undefined && (perSecond === null) === (burst === null);
  return (
    <PolicyForm
      title={own.limitSet}
      consequence={own.limitText}
      isReady={isReady}
      close={close}
      act={() => save({ merchantId, perSecond: perSecond ?? null, burst: burst ?? null }, own.done)}
    >
      <TextField label={own.perSecond} value={rate} set={setRate} hint={own.limitHint} isNumber />
      <TextField label={own.burst} value={most} set={setMost} hint={own.burstHint} isNumber />
    </PolicyForm>
  );
};

/** The limit counts minor units; the field shows them as rubles. */
const currency = 'RUB';

const SupportDialog = ({ merchant: { id: merchantId, supportRefundMax }, close }: DialogProps) => {
  const [text, setText] = useState(amountText(supportRefundMax, currency));
  const save = useSend(graph.LimitSupportRefunds);
  const amount = readAmount(text, currency);
  return (
    <PolicyForm
      title={own.supportSet}
      consequence={own.supportText}
      isReady={amount !== null}
      close={close}
      act={() => save({ merchantId, amount: amount ?? 0 }, own.done)}
    >
      <TextField label={own.support} value={text} set={setText} hint={own.supportHint} isNumber />
    </PolicyForm>
  );
};

export const MerchantSettings = ({ merchant, again }: OfMerchant & Again) => {
  const { button, dialog } = useActs(again);
  const rename = useSend(graph.RenameMerchant);
  const add = useSend(graph.AddShop);
  const { id: merchantId, name: initial, rateLimit, supportRefundMax } = merchant;
  const now = own.limitNow(wholeNumber(rateLimit.perSecond), wholeNumber(rateLimit.burst));
  const text = { label: words.columns.name, hint: own.nameHint };
  return (
    <section className="card">
      <h2>{own.general}</h2>
      <Facts
        facts={[
          [own.limit, now],
          [own.support, money(supportRefundMax, currency)],
        ]}
      />
      <div className="acts">
        {button({
          permission: 'merchantRateLimitSet',
          title: own.limitSet,
          dialog: (close) => <LimitDialog merchant={merchant} close={close} />,
        })}
        {button({
          permission: 'merchantSupportRefundSet',
          title: own.supportSet,
          dialog: (close) => <SupportDialog merchant={merchant} close={close} />,
        })}
        {button({
          permission: 'merchantRename',
          title: own.rename,
          Form: PolicyForm,
          consequence: own.renameText,
          text: { ...text, initial },
          act: (name) => rename({ merchantId, name }, own.done),
        })}
        {button({
          permission: 'shopCreate',
          title: own.shopAdd,
          Form: PolicyForm,
          consequence: own.shopText,
          isRepeated: true,
          text,
          act: (name) => add({ merchantId, name }, own.done),
        })}
      </div>
      {dialog}
    </section>
  );
};
