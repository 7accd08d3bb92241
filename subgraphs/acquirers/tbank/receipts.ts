/**
 * Receipts at T-Bank. Those of payments and refunds go with their movements. No call queries their
 * result: a signed notification reports it (`connector`). A closing receipt has a call
 * without an idempotency key: its order is claimed in the database before it is sent, and is sent
 * once for an attempt.
 */
import { unknown } from '../bank-http.ts';
import { idFrom } from '../../platform/database/statement.ts';
import {
  type ReceiptTerms,
  itemTotal,
  type Measure,
  type PaymentMode,
  type PaymentSubject,
  type ReceiptItem,
} from '../../rules/receipt.ts';
import type { ReceiptAnswer, ReceiptBank, ReceiptOrder } from '../bank.ts';
import { markCodeOf } from '../receipt-terms.ts';
import type { CashRegister } from './client.ts';
import {
  claimedAt,
  claimOrder,
  giveClaimBack,
  type ClaimedOrder,
  movedPayment,
  type PaymentCalls,
} from './orders.ts';

/** After this no result is expected: a person must look into the bank's cabinet. */
const notifiesWithin_h = 24;

const failed = (reason: string): ReceiptAnswer => ({ kind: 'failed', reason });

// Receipts in T-Bank's terms (its object `Receipt`), in the format of fiscal documents of the
// terminal's cash register. Values that a format or the bank does not support are refused before
// money moves.

const taxations: Readonly<Record<number, string>> = {
  1: 'osn',
  2: 'usn_income',
  3: 'usn_income_outcome',
  // 4, the tax on imputed income, was abolished on 1 January 2021.
  5: 'esn',
  6: 'patent',
};

const taxes: Readonly<Record<number, string>> = {
  1: 'none',
  2: 'vat0',
  3: 'vat10',
  4: 'vat20',
  5: 'vat110',
  6: 'vat120',
  7: 'vat5',
  8: 'vat7',
  9: 'vat105',
  10: 'vat107',
  11: 'vat22',
  12: 'vat122',
};

/** The bank has the same words but for one. */
const modeOf = (mode: PaymentMode | null) =>
  mode === 'partial_prepayment' ? 'prepayment' : (mode ?? 'full_payment');

/** The words of both formats, which are ours. */
const subjects: ReadonlySet<PaymentSubject> = new Set([
  'commodity',
  'excise',
  'job',
  'service',
  'gambling_bet',
  'gambling_prize',
  'lottery',
  'lottery_prize',
  'intellectual_activity',
  'payment',
  'agent_commission',
  'another',
]);

/** Those that a format alone has. */
const ownSubjects: Readonly<
  Record<CashRegister['ffd'], Readonly<Partial<Record<PaymentSubject, string>>>>
> = {
  '1.05': { composite: 'composite' },
  '1.2': {
    property_right: 'property_rights',
    non_operating_gain: 'unrealization',
    insurance_premium: 'tax_reduction',
    sales_tax: 'trade_fee',
    resort_fee: 'resort_tax',
    fine: 'contribution',
    tax: 'tax_reduction',
    lien: 'pledge',
    cost: 'income_decrease',
    pension_insurance_without_payouts: 'ie_pension_insurance_without_payments',
    pension_insurance_with_payouts: 'ie_pension_insurance_with_payments',
    health_insurance_without_payouts: 'ie_medical_insurance_without_payments',
    health_insurance_with_payouts: 'ie_medical_insurance_with_payments',
    health_insurance: 'social_insurance',
    casino: 'casino_chips',
    agent_withdrawals: 'agent_payment',
    non_marked_excise: 'excisable_goods_without_marking_code',
    marked_excise: 'excisable_goods_with_marking_code',
    non_marked: 'goods_without_marking_code',
    marked: 'goods_with_marking_code',
  },
};

/** Symbols of the classifier of units (OK 015-94), the bank's names of measures. */
const units = {
  piece: 'шт',
  gram: 'г',
  kilogram: 'кг',
  ton: 'т',
  centimeter: 'см',
  decimeter: 'дм',
  meter: 'м',
  square_centimeter: 'см2',
  square_decimeter: 'дм2',
  square_meter: 'м2',
  milliliter: 'мл',
  liter: 'л',
  cubic_meter: 'м3',
  kilowatt_hour: 'кВт.ч',
  gigacalorie: 'Гкал',
  day: 'сут',
  hour: 'ч',
  minute: 'мин',
  second: 'с',
  kilobyte: 'Кбайт',
  megabyte: 'Мбайт',
  gigabyte: 'Гбайт',
  terabyte: 'Тбайт',
  another: 'ед',
} as const satisfies Record<Measure, string>;

const quantity_max = 100_000;

const subjectIn = (
  ffd: CashRegister['ffd'],
  subject: PaymentSubject | null,
): string | undefined => {
  const named = subject ?? 'commodity';
  return subjects.has(named) ? named : ownSubjects[ffd][named];
};

const taxationOf = ({ taxSystem }: ReceiptTerms, register: CashRegister): string | undefined =>
  taxations[taxSystem ?? register.taxSystem ?? 0];

const itemMistake = (item: ReceiptItem, { ffd }: CashRegister): string | null => {
  const { markCode, quantity, vatCode, paymentSubject } = item;
  if (!taxes[vatCode]) return 'receipt_vat_code';
  if (subjectIn(ffd, paymentSubject) === undefined) return 'receipt_payment_subject';
  if (Number(quantity) >= quantity_max) return 'receipt_quantity';
  if (markCode === null) return null;
  // FFD 1.05 has a code of its own for each kind of register; by FFD 1.2 a code is one piece.
  const isKnown = ffd === '1.2' && Number(quantity) === 1 && markCodeOf(markCode) !== null;
  return isKnown ? null : 'receipt_mark_code';
};

/** Why the bank does not support a receipt, as a code for people; null when it does. */
export const receiptMistake = (
  terms: ReceiptTerms,
  register: CashRegister | null,
): string | null => {
  if (!register) return 'no_cash_register';
  if (taxationOf(terms, register) === undefined) return 'receipt_tax_system';
  return terms.items.map((item) => itemMistake(item, register)).find((each) => each) ?? null;
};

const wireMark = (code: string | null) => {
  const mark = code === null ? null : markCodeOf(code);
  return mark
    ? {
        MarkProcessingMode: '0',
        MarkCode: { MarkCodeType: mark.kind.toUpperCase(), Value: mark.code },
      }
    : {};
};

const wireItem = (item: ReceiptItem, { ffd }: CashRegister) => ({
  Name: item.description,
  Price: Number(item.price),
  // Its API has numbers; three places are exact in one.
  Quantity: Number(item.quantity),
  Amount: Number(itemTotal(item)),
  Tax: taxes[item.vatCode] ?? 'none',
  PaymentMethod: modeOf(item.paymentMode),
  PaymentObject: subjectIn(ffd, item.paymentSubject) ?? 'commodity',
  ...(ffd === '1.2'
    ? { MeasurementUnit: units[item.measure ?? 'piece'], ...wireMark(item.markCode) }
    : {}),
});

/** The object `Receipt` of terms without a mistake. FFD 1.05 has no measures. */
export const wireReceipt = (terms: ReceiptTerms, register: CashRegister) => {
  const { email, phone, fullName, inn } = terms.customer;
  return {
    FfdVersion: register.ffd,
    Taxation: taxationOf(terms, register) ?? '',
    ...(email === null ? {} : { Email: email }),
    ...(phone === null ? {} : { Phone: phone }),
    ...(fullName === null ? {} : { Customer: fullName }),
    ...(inn === null ? {} : { CustomerInn: inn }),
    Items: terms.items.map((item) => wireItem(item, register)),
  };
};

/** What goes with a movement; nothing without a receipt. */
export const receiptOf = (terms: ReceiptTerms | undefined, register: CashRegister | null) =>
  terms && register ? { Receipt: wireReceipt(terms, register) } : {};

/** Why a movement is not ordered with its receipt; null when it is. */
export const refusalOf = (
  terms: ReceiptTerms | undefined,
  register: CashRegister | null,
): string | null => (terms ? receiptMistake(terms, register) : null);

/** It waits for its notification: for a day from its order. */
const awaited = (orderedAt: Temporal.Instant, now: Temporal.Instant): ReceiptAnswer => {
  const until = orderedAt.add({ hours: notifiesWithin_h });
  return Temporal.Instant.compare(now, until) < 0
    ? { kind: 'pending', askAt: until }
    : failed('T-Bank has not notified of it within a day: its cabinet shows what became of it');
};

/**
 * An attempt's name among the claims: the receipt's own id for the first one, one that follows from
 * it for each later.
 */
const claimed = ({ merchantId, receiptId, attempt, payment, now }: ReceiptOrder): ClaimedOrder => ({
  merchantId,
  // Under the payment's id the orders of its refunds are counted.
  subjectId: receiptId,
  operationId: attempt === 0 ? payment.operationId : idFrom(`${receiptId} ${attempt}`),
  now,
});

const close = async (
  { client, pool, register }: PaymentCalls & { readonly register: CashRegister },
  order: ReceiptOrder,
): Promise<ReceiptAnswer> => {
  const paid = await movedPayment({ client }, order.payment);
  if (!paid) return unknown;
  const claim = claimed(order);
  const { now } = order;
  if (!(await claimOrder(pool, claim, null)))
    return awaited((await claimedAt(pool, claim)) ?? now, now);
  const answer = await client.callCashbox('SendClosingReceipt', {
    PaymentId: paid.id,
    Receipt: wireReceipt(order.terms, register),
  });
  switch (answer.kind) {
    case 'answered':
    case 'unknown':
      return awaited(now, now);
    case 'unaccepted':
      await giveClaimBack(pool, claim);
      return unknown;
    case 'rejected':
      return failed(`T-Bank refused it: ${answer.code}`);
  }
};

/** The part of the port that registers receipts; none without a cash register. */
export const tbankReceipts = (calls: PaymentCalls, register: CashRegister | null): ReceiptBank => {
  if (!register) return {};
  return {
    receipt: async (order) => {
      if (order.type !== 'closing')
        return order.attempt === 0
          ? awaited(order.createdAt, order.now)
          : failed("T-Bank's API sends no receipt of a payment or refund again: its cabinet does");
      const mistake = receiptMistake(order.terms, register);
      return mistake === null ? close({ ...calls, register }, order) : failed(mistake);
    },
  };
};
