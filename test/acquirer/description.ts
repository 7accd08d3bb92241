/**
 * The described part of the acquirer's API as checks: what is sent must satisfy
 * `yookassa-orders.yaml`, what is answered `yookassa-answers.yaml`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const ajv = new Ajv2020({ strict: false, allErrors: true });
const defined = (file: string): object =>
  parse(readFileSync(join(import.meta.dirname, file), 'utf8')).$defs;
ajv.addSchema({
  $id: 'yookassa',
  $defs: { ...defined('yookassa-orders.yaml'), ...defined('yookassa-answers.yaml') },
});

export type Described =
  | 'CreatePayment'
  | 'CancelPayment'
  | 'CapturePayment'
  | 'CreateRefund'
  | 'ReceiptData'
  | 'CreateReceipt'
  | 'CreatePayout'
  | 'CreatePersonalData'
  | 'IdempotenceKey'
  | 'Payment'
  | 'SavedMethod'
  | 'Refund'
  | 'Receipt'
  | 'ReceiptList'
  | 'Me'
  | 'Payout'
  | 'PersonalData'
  | 'PaymentList'
  | 'RefundList'
  | 'PayoutList'
  | 'SbpBankList'
  | 'Error'
  | 'Notification';

/**
 * What of a value is not as described, in words; null when it is. Values are not repeated: one may
 * be a card number.
 */
export const mistakeIn = (name: Described, value: unknown): string | null => {
  const check = ajv.getSchema(`yookassa#/$defs/${name}`);
  if (!check) throw new Error(`${name} is not described`);
  if (check(value)) return null;
  return (check.errors ?? [])
    .map(({ instancePath, message }) => `${name}${instancePath} ${message ?? ''}`)
    .join('; ');
};
