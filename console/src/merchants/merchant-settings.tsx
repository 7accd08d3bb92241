/** A merchant's settings: its name, its rate limit, new shops. */
import { rateBurst_max, ratePerSecond_max } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { amountText, readAmount } from '../amounts.ts';
import { wholeNumber, money } from '../format.ts';
import {
  ActButton,
  PolicyForm,
  useDialogs,
  type Again,
  type Closable,
} from '../parts/act-form.tsx';
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

const RenameDialog = ({ merchant: { id: merchantId, name }, close }: DialogProps) => {
  const [text, setText] = useState(name);
  const save = useSend(graph.RenameMerchant);
  return (
    <PolicyForm
      title={own.rename}
      consequence={own.renameText}
      isReady={text.trim() !== ''}
      close={close}
      act={() => save({ merchantId, name: text.trim() }, own.done)}
    >
      <TextField label={words.columns.name} value={text} set={setText} hint={own.nameHint} />
    </PolicyForm>
  );
};

const ShopDialog = ({ merchant: { id: merchantId }, close }: DialogProps) => {
  const [text, setText] = useState('');
  const save = useSend(graph.AddShop);
  return (
    <PolicyForm
      title={own.shopAdd}
      consequence={own.shopText}
      isReady={text.trim() !== ''}
      close={close}
      isRepeated
      act={() => save({ merchantId, name: text.trim() }, own.done)}
    >
      <TextField label={words.columns.name} value={text} set={setText} hint={own.nameHint} />
    </PolicyForm>
  );
};

const dialogs = {
  limit: LimitDialog,
  support: SupportDialog,
  rename: RenameDialog,
  shop: ShopDialog,
} as const;

export const MerchantSettings = ({ merchant, again }: OfMerchant & Again) => {
  const { press, dialog } = useDialogs(dialogs, { merchant }, again);
  const { perSecond, burst } = merchant.rateLimit;
  const now = own.limitNow(wholeNumber(perSecond), wholeNumber(burst));
  return (
    <section className="card">
      <h2>{own.general}</h2>
      <Facts
        facts={[
          [own.limit, now],
          [own.support, money(merchant.supportRefundMax, currency)],
        ]}
      />
      <div className="acts">
        <ActButton permission="merchantRateLimitSet" onPress={press('limit')}>
          {own.limitSet}
        </ActButton>
        <ActButton permission="merchantSupportRefundSet" onPress={press('support')}>
          {own.supportSet}
        </ActButton>
        <ActButton permission="merchantRename" onPress={press('rename')}>
          {own.rename}
        </ActButton>
        <ActButton permission="shopCreate" onPress={press('shop')}>
          {own.shopAdd}
        </ActButton>
      </div>
      {dialog}
    </section>
  );
};
