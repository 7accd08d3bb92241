/** Settlements and adjustments, booked by platform operators. */
import { useState } from 'react';
import {
  PolicyShops,
  RecordAdjustment,
  RecordSettlement,
  type RecordAdjustmentMutationVariables as Movement,
} from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { readAmount } from '../amounts.ts';
import { ActButton, ActForm, type MerchantDialog, useOpened } from '../parts/act-form.tsx';
import { type Outcome, useSend } from '../parts/outcome.tsx';
import { ShopPick, TextField } from '../parts/fields.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useReconciliationWords } from '../words/reconciliation.ts';
import { useWords } from '../words/words.ts';

type Act = 'settle' | 'adjust';

/** An amount with an optional minus; null when it is invalid. */
const signedAmount = (text: string): number | null => {
  const trimmed = text.trim();
  const isBelow = /^[-−]/.test(trimmed);
  const amount = readAmount(isBelow ? trimmed.slice(1) : trimmed, 'RUB');
  return amount === null || !isBelow ? amount : -amount;
};

const useRecord = (act: Act) => {
  const own = useReconciliationWords();
  const settle = useSend(RecordSettlement);
  const adjust = useSend(RecordAdjustment);
  const done = ({ repeated }: { readonly repeated: boolean }): string =>
    repeated ? own.repeated : own.recorded;
  return ({ reason, ...movement }: Movement): Promise<Outcome> =>
    act === 'settle' ? settle(movement, done) : adjust({ ...movement, reason }, done);
};

const mayBook = (act: Act, { amount, reference, reason, shopId }: Movement): boolean =>
  shopId !== '' &&
  reference !== '' &&
  (act === 'settle' ? amount > 0 : amount !== 0 && reason !== '');

const RecordDialog = ({ act, merchantId, close }: MerchantDialog & { readonly act: Act }) => {
  const words = useWords();
  const own = useReconciliationWords();
  const { mode } = useAddress();
  const { data } = useAsk(PolicyShops, { merchantId });
  const shops = data?.merchant?.shops ?? [];
  const [chosen, setShop] = useState('');
  const [text, setText] = useState('');
  const [reference, setReference] = useState('');
  const [reason, setReason] = useState('');
  const record = useRecord(act);
  const shopId = chosen === '' ? (shops[0]?.id ?? '') : chosen;
  const movement = {
    merchantId,
    shopId,
    mode,
    amount: signedAmount(text) ?? 0,
    reference: reference.trim(),
    reason: reason.trim(),
  };
  return (
    <ActForm
      title={own[act]}
      consequence={act === 'settle' ? own.settleText : own.adjustText}
      isReady={mayBook(act, movement)}
      close={close}
      act={() => record(movement)}
    >
      <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={setShop} />
      <TextField
        label={own.amount}
        value={text}
        set={setText}
        hint={act === 'adjust' ? own.amountSigned : ''}
        isNumber
      />
      {act === 'adjust' && <TextField label={words.acts.reason} value={reason} set={setReason} />}
      <TextField
        label={own.reference}
        value={reference}
        set={setReference}
        hint={own.referenceHint}
      />
    </ActForm>
  );
};

export const RecordActs = ({
  merchantId,
  again,
}: {
  readonly merchantId: string;
  readonly again: () => void;
}) => {
  const own = useReconciliationWords();
  const { opened, open, close } = useOpened<Act>(again);
  return (
    <div className="acts">
      <ActButton permission="settlementRecord" onPress={() => open('settle')}>
        {own.settle}
      </ActButton>
      <ActButton permission="adjustmentRecord" onPress={() => open('adjust')}>
        {own.adjust}
      </ActButton>
      {opened && <RecordDialog act={opened} merchantId={merchantId} close={close} />}
    </div>
  );
};
