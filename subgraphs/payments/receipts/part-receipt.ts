/** Whether a movement of a part of a payment needs a receipt. */
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { receiptMistake } from '../../rules/receipt-terms.ts';
import type { Refusal } from '../../rules/refusal.ts';
import type { PaymentCaller } from '../caller.ts';
import { partMistake, termsOf, type Receipted } from './rules.ts';

const required: Statement = {
  name: 'shop.receipts_required',
  text: `select receipts_required as "isRequired" from shop where merchant_id = $1 and id = $2`,
};

/** What a shop demands; null without the shop. */
export const shopDemand = async (
  runner: Runner,
  { merchantId, shopId }: Pick<PaymentCaller, 'merchantId' | 'shopId'>,
): Promise<{ readonly receiptsRequired?: true } | null> => {
  const [shop] = await run<{ isRequired: boolean | null }>(runner, required, [merchantId, shopId]);
  if (!shop) return null;
  return shop.isRequired ? { receiptsRequired: true } : {};
};

/** What the caller's shop demands: a key brings it along, for a person the shop is read. */
const demandOf = async (
  runner: Runner,
  caller: PaymentCaller,
): Promise<{ readonly receiptsRequired?: true }> => {
  return caller.kind === 'key' ? caller : ((await shopDemand(runner, caller)) ?? {});
};

/**
 * Why a capture or a refund of a part needs a receipt of its own: the payment has one, or the shop
 * sells nothing without. Null when it was given one, or needs none.
 */
export const partReceiptMistake = async (
  runner: Runner,
  caller: PaymentCaller,
  payment: Receipted,
  given: object | null,
  part: 'capture' | 'refund',
): Promise<Refusal | null> => {
  if (given || termsOf(payment) !== null) return partMistake(payment, given, part);
  return receiptMistake(await demandOf(runner, caller), given);
};
