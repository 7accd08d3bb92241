/**
 * What the columns of acquirers' registries are called, as data. `docs/acquirers.md` says where each
 * name is from and how certain it is.
 */

/** What a column may hold. `order` is our payment's id; `operation` the line's own id here. */
export const fields = [
  'reference',
  'order',
  'operation',
  'kind',
  'amount',
  'currency',
  'status',
  'at',
  'time',
  'fee',
  'vat',
  'net',
] as const;
export type Field = (typeof fields)[number];

/** The fields that a person says, in the order of the form. */
export const chosenFields = [
  'reference',
  'order',
  'kind',
  'amount',
  'currency',
  'at',
  'time',
  'fee',
] as const satisfies readonly Field[];
export type ChosenField = (typeof chosenFields)[number];

export type Kind = 'payment' | 'refund' | 'payout';
export type Status = 'succeeded' | 'failed' | 'pending';

/** A table that a registry may have. Names are in small letters, without the currency. */
export interface Layout {
  /** What every line is; null: a column tells. */
  readonly kind: Kind | null;
  /** Whether amounts are minor units. */
  readonly isMinor: boolean;
  readonly names: Readonly<Partial<Record<Field, readonly string[]>>>;
  /** The fields that tell the table from others. */
  readonly needs: readonly Field[];
}

/** The format of the service itself, of any acquirer. */
const ours: Layout = {
  kind: null,
  isMinor: true,
  names: {
    reference: ['reference'],
    operation: ['operation_id'],
    kind: ['kind'],
    amount: ['amount'],
    currency: ['currency'],
    status: ['status'],
    at: ['at'],
    fee: ['fee'],
  },
  needs: ['reference', 'operation', 'kind', 'amount', 'currency', 'status', 'at', 'fee'],
};

const yookassa: readonly Layout[] = [
  {
    kind: 'refund',
    isMinor: false,
    names: {
      reference: ['идентификатор возврата'],
      amount: ['сумма возврата'],
      currency: ['валюта возврата'],
      at: ['время возврата', 'дата возврата'],
    },
    needs: ['reference', 'amount'],
  },
  {
    kind: 'payment',
    isMinor: false,
    names: {
      reference: ['идентификатор платежа'],
      amount: ['сумма платежа'],
      currency: ['валюта платежа'],
      at: ['время платежа', 'дата платежа'],
      net: [
        'сумма за вычетом комиссии и ндс',
        'сумма за вычетом комиссии',
        'сумма платежа за вычетом комиссии нко',
        'сумма к перечислению',
      ],
      fee: ['сумма комиссии без ндс', 'сумма комиссии'],
      vat: ['ндс с комиссии'],
    },
    needs: ['reference', 'amount'],
  },
  {
    kind: 'payout',
    isMinor: false,
    names: {
      reference: ['идентификатор выплаты'],
      amount: ['сумма выплаты'],
      currency: ['валюта выплаты'],
      at: ['время операции'],
      fee: ['комиссия'],
    },
    needs: ['reference', 'amount'],
  },
];

const tbank: readonly Layout[] = [
  {
    kind: null,
    isMinor: false,
    names: {
      reference: [
        'paymentid',
        'payment id',
        'идентификатор платежа',
        'id платежа',
        'номер платежа',
        'идентификатор операции',
        'id операции',
        'номер операции',
      ],
      order: ['orderid', 'order id', 'номер заказа', 'идентификатор заказа', 'id заказа'],
      kind: ['тип операции', 'вид операции', 'операция'],
      amount: ['сумма операции', 'сумма платежа', 'сумма'],
      currency: ['валюта операции', 'валюта'],
      status: ['статус операции', 'статус платежа', 'статус'],
      at: ['дата и время операции', 'дата операции', 'дата платежа', 'дата и время', 'дата'],
      time: ['время операции', 'время'],
      fee: ['комиссия', 'сумма комиссии', 'комиссия банка'],
      net: ['сумма к перечислению', 'к перечислению', 'сумма к зачислению', 'к зачислению'],
    },
    needs: ['reference', 'order', 'kind', 'amount', 'at'],
  },
];

/** The tables of each acquirer's registries. The first one whose needs are met is taken. */
export const layouts: Readonly<Record<string, readonly Layout[]>> = {
  yookassa: [ours, ...yookassa],
  tbank: [ours, ...tbank],
  simulator: [ours],
};

/** What cells of a kind begin with. */
export const kindWords: Readonly<Record<Kind, readonly string[]>> = {
  payment: ['payment', 'оплата', 'платеж', 'покупка', 'продажа'],
  refund: ['refund', 'возврат', 'частичный возврат', 'отмена'],
  payout: ['payout', 'выплата'],
};

export const statusWords: Readonly<Record<Status, readonly string[]>> = {
  succeeded: [
    'succeeded',
    'confirmed',
    'refunded',
    'partial_refunded',
    'успешн',
    'проведен',
    'исполнен',
    'завершен',
    'подтвержден',
    'оплачен',
    'возвращен',
  ],
  failed: ['failed', 'rejected', 'неуспешн', 'отклонен'],
  pending: ['pending', 'в обработке', 'ожида'],
};
