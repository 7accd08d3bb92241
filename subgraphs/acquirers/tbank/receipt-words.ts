/**
 * Receipts in T-Bank's terms (its object `Receipt`), in the format of fiscal documents of the
 * terminal's cash register. Values that a format or the bank does not support are refused before
 * money moves.
 */
import {
  itemTotal,
  type Measure,
  type PaymentMode,
  type PaymentSubject,
  type ReceiptItem,
  type ReceiptTerms,
} from '../../rules/receipt.ts';
import { markCodeOf, type MarkCode } from '../mark-code.ts';
import type { CashRegister } from './config.ts';

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

const modes = {
  full_prepayment: 'full_prepayment',
  prepayment: 'prepayment',
  partial_prepayment: 'prepayment',
  advance: 'advance',
  full_payment: 'full_payment',
  partial_payment: 'partial_payment',
  credit: 'credit',
  credit_payment: 'credit_payment',
} as const satisfies Record<PaymentMode, string>;

/** The words of both formats. */
const subjects = {
  commodity: 'commodity',
  excise: 'excise',
  job: 'job',
  service: 'service',
  gambling_bet: 'gambling_bet',
  gambling_prize: 'gambling_prize',
  lottery: 'lottery',
  lottery_prize: 'lottery_prize',
  intellectual_activity: 'intellectual_activity',
  payment: 'payment',
  agent_commission: 'agent_commission',
  another: 'another',
} as const satisfies Partial<Record<PaymentSubject, string>>;

const subjectsOf105: Readonly<Partial<Record<PaymentSubject, string>>> = {
  ...subjects,
  composite: 'composite',
};

const subjectsOf12: Readonly<Partial<Record<PaymentSubject, string>>> = {
  ...subjects,
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

const markTypes = {
  ean8: 'EAN8',
  ean13: 'EAN13',
  itf14: 'ITF14',
  gs1m: 'GS1M',
  fur: 'FUR',
  unknown: 'UNKNOWN',
} as const satisfies Record<MarkCode['kind'], string>;

const quantity_max = 100_000;

const subjectIn = (ffd: CashRegister['ffd'], subject: PaymentSubject | null): string | undefined =>
  (ffd === '1.2' ? subjectsOf12 : subjectsOf105)[subject ?? 'commodity'];

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
        MarkCode: { MarkCodeType: markTypes[mark.kind], Value: mark.code },
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
  PaymentMethod: modes[item.paymentMode ?? 'full_payment'],
  PaymentObject: subjectIn(ffd, item.paymentSubject) ?? 'commodity',
  ...(ffd === '1.2'
    ? { MeasurementUnit: units[item.measure ?? 'piece'], ...wireMark(item.markCode) }
    : {}),
});

/**
 * The object `Receipt` of terms in which there is no mistake. FFD 1.05 has no measures: those are
 * left out.
 */
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
