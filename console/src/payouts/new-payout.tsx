/** Proposes a payout, under an idempotency key. */
import { reason_max_chars, recipientName_max_chars } from '../../../schema/limits.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Chips, useShops } from '../parts/filters.tsx';
import { ActForm, type Closable } from '../parts/act-form.tsx';
import { ChooseField, bankOptions } from './bank-field.tsx';
import { ShopPick, TextField, useTyped, type Held } from '../parts/fields.tsx';
import { phoneText, money } from '../format.ts';
import { useAsk } from '../parts/use-ask.ts';
import { draftWords as own } from '../words/drafts.ts';
import { optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { Available } from './available.tsx';
import { proposeDraft } from './draft-acts.tsx';
import {
  amountOf,
  fieldsIn,
  fits,
  isWhole,
  nothingTyped,
  type FieldName,
  type Method,
  type Typed,
} from './draft-fields.ts';

type FieldProps = ReturnType<typeof useTyped<Typed>>;

type BankFieldProps = FieldProps & { readonly banks: graph.SbpBanksQuery['sbpBanks'] };

/** One text field, with its error once something was typed. A phone is written in its usual form. */
const TypedField = ({
  field,
  label,
  hint,
  typed,
  type,
  held,
}: FieldProps & Readonly<Record<'label' | 'hint', string>> & { readonly field: FieldName }) => (
  <TextField
    label={label}
    hint={hint}
    {...held(field)}
    inputMode={field === 'fullName' ? 'text' : field === 'amount' ? 'decimal' : 'tel'}
    maxLength={recipientName_max_chars}
    isWrong={typed[field] !== nothingTyped[field] && !fits(typed, field)}
    onBlur={() => {
      if (field === 'phone') type({ phone: phoneText(typed.phone) });
    }}
  />
);

/** Recipients of earlier payouts; the chosen one takes the place of what would be typed. */
const AgainField = ({
  held,
  banks,
  paid,
}: Pick<BankFieldProps, 'held' | 'banks'> & {
  readonly paid: graph.PaidRecipientsQuery['paidRecipients'];
}) => {
  if (paid.length === 0) return null;
  const options = paid.map(({ id, method, recipient }) => {
    const { phone, accountNumber, fullName, bankId } = recipient;
    const bank = banks.find(({ memberId }) => memberId === bankId);
    const bankName = words.language === 'ru' ? bank?.name : bank?.nameEn;
    const name = [fullName, phone ?? accountNumber].filter(Boolean).join(' · ');
    return { key: id, name, note: bankName ?? words.payout.methods[method] };
  });
  return (
    <ChooseField label={own.again} {...held('again')} options={options} hint={own.againHint} />
  );
};

const Fields = ({ banks, ...of }: BankFieldProps) => {
  const texts: Readonly<Record<FieldName, readonly [label: string, hint: string]>> = {
    amount: [words.acts.amount('RUB'), own.amountWrong],
    phone: [words.payment.phone, own.phoneWrong],
    bankId: [words.payment.bank, own.bankWrong],
    cardPan: [own.card, own.cardWrong],
    accountNumber: [own.account, own.accountWrong],
    bik: [own.bik, own.bikWrong],
    inn: [own.inn, own.innWrong],
    fullName: [own.fullName, own.fullNameHint],
  };
  return fieldsIn(of.typed).map((field) => {
    const [label, hint] = texts[field];
    if (field !== 'bankId') return <TypedField key={field} {...{ field, label, hint }} {...of} />;
    const options = bankOptions(banks, words.language);
    return <ChooseField key={field} {...{ label, hint, options }} {...of.held(field)} />;
  });
};

const MethodField = ({ value, set }: Held<Method>) => (
  <Chips
    label={words.columns.method}
    chips={optionsOf(words.payout.methods).map(([one, name]) => [
      name,
      value === one,
      () => set(one),
    ])}
  />
);

/** The recipient, as far as a browser may store it. */
const endOf = ({ phone, cardPan, accountNumber }: Typed): string =>
  [phone, cardPan, accountNumber].map((text) => text.replaceAll(/\s/g, '').slice(-4)).join('-');

const ReasonField = (field: Held<string>) => (
  <TextField label={own.reason} hint={own.reasonHint} maxLength={reason_max_chars} {...field} />
);

export const NewPayoutDialog = ({
  merchantId,
  close,
}: Closable & { readonly merchantId: string }) => {
  const of = useTyped<Typed>(nothingTyped);
  const { typed, held } = of;
  const [chosen, choose] = useState('');
  const [reason, setReason] = useState('');
  const { mode } = useAddress();
  const { data } = useAsk(graph.PaidRecipients, { merchantId, mode });
  const banks = useAsk(graph.SbpBanks, {}).data?.sbpBanks;
  const shops = useShops();
  const shopId = chosen || (shops[0]?.id ?? '');
  const amount = amountOf(typed);
  const paid = data?.paidRecipients ?? [];
  const method = paid.find(({ id }) => id === typed.again)?.method ?? typed.method;
  const consequence = amount ? own.proposeText(money(amount, 'RUB')) : own.proposeFirst;
  return (
    <ActForm
      title={own.propose}
      consequence={consequence}
      isReady={shopId !== '' && isWhole(typed)}
      close={close}
      act={() =>
        proposeDraft(
          `draft/${shopId}/${mode}/${typed.again || endOf(typed)}`,
          { merchantId, shopId, mode, recipientOf: typed.again || null, batchId: null },
          typed,
          reason.trim(),
        )
      }
    >
      {data && banks && (
        <>
          <ShopPick label={words.columns.shop} shops={shops} value={shopId} set={choose} />
          <Available
            merchantId={merchantId}
            mode={mode}
            items={amount && shopId !== '' ? [{ shopId, method, amount }] : []}
          />
          <AgainField held={held} banks={banks} paid={paid} />
          {typed.again === '' && <MethodField {...held('method')} />}
          <Fields {...of} banks={banks} />
          <ReasonField value={reason} set={setReason} />
        </>
      )}
    </ActForm>
  );
};
