/** What the forms of a test payment and of a payment link share. */
import { useState, type ReactNode } from 'react';
import type * as graph from '../../../schema/generated/console.ts';
import { actButton, type Act } from '../parts/act-form.tsx';
import { CheckField, PickField, ShopPick, TextField, type Held } from '../parts/fields.tsx';
import { useShops } from '../parts/filters.tsx';
import { sellingWords as own } from '../words/selling.ts';
import { words } from '../words/words.ts';

export type SellingShop = NonNullable<graph.ShopsQuery['merchant']>['shops'][number];
export type Shops = readonly [SellingShop, ...SellingShop[]];

/** The only currency of the forms. */
export const currency = 'RUB';

const methods = ['any', 'sbp', 'cards', 'tpay', 'sberpay'] as const;
export type Method = (typeof methods)[number];

/** One key for each opened dialog: a second press makes nothing again. */
export const useKey = (): string => useState(() => `console-${crypto.randomUUID()}`)[0];

/** The button of a dialog that needs the merchant's shops; nothing until a merchant is chosen. */
export const ShopsButton = ({
  dialog,
  ...act
}: Pick<Act, 'title' | 'permission'> & {
  readonly dialog: (shops: Shops) => ReactNode;
}) => {
  const [first, ...others] = useShops();
  if (!first) return null;
  return actButton({ ...act, dialog: dialog([first, ...others]) });
};

export const ShopField = ({
  shops,
  value,
  set,
}: Held<SellingShop> & {
  readonly shops: Shops;
}) => {
  if (shops.length === 1) return null;
  return (
    <ShopPick
      label={words.columns.shop}
      shops={shops}
      value={value.id}
      set={(id) => set(shops.find((shop) => shop.id === id) ?? value)}
    />
  );
};

export const MethodField = ({ value, set }: Held<Method>) => (
  <PickField
    label={words.columns.method}
    value={value}
    set={set}
    options={methods.map((method) => [
      method,
      method === 'any' ? own.anyMethod : words.payment.methods[method],
    ])}
  />
);

interface TypedReceipt {
  readonly isWanted: boolean;
  readonly email: string;
  readonly vatCode: string;
}

export const noReceipt: TypedReceipt = { isWanted: false, email: '', vatCode: '1' };

/** The receipt as the graph takes it; null without one, undefined while it is not whole. */
export const receiptInput = (
  { isWanted, email, vatCode }: TypedReceipt,
  isRequired: boolean,
  item: { readonly description: string; readonly price: number },
) => {
  if (!isWanted && !isRequired) return null;
  const code = Number(vatCode);
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email.trim())) return undefined;
  if (!Number.isInteger(code) || code < 1 || code > 12) return undefined;
  return {
    customer: { email: email.trim() },
    items: [{ ...item, quantity: '1', vatCode: code }],
  };
};

export const ReceiptFields = ({
  value,
  set,
  isRequired,
}: Held<TypedReceipt> & {
  readonly isRequired: boolean;
}) => (
  <>
    <CheckField
      label={isRequired ? own.receiptRequired : own.receipt}
      value={value.isWanted || isRequired}
      isFixed={isRequired}
      set={(isWanted) => set({ ...value, isWanted })}
    />
    {(value.isWanted || isRequired) && (
      <>
        <TextField
          label={own.email}
          value={value.email}
          set={(email) => set({ ...value, email })}
        />
        <TextField
          label={own.vat}
          value={value.vatCode}
          set={(vatCode) => set({ ...value, vatCode })}
          hint={own.vatHint}
          isNumber
        />
      </>
    )}
  </>
);
