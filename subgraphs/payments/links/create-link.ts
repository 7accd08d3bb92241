/** Creates a payment link. Additions: POST /v1/public/links. */
import { randomUUID } from 'node:crypto';
import { writeEntry, type Acting } from '../../platform/database/audit.ts';
import { claimOf, createOnce, type Created } from '../../platform/database/idempotency.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { givenReceipt, insertTerms, termsRow } from '../../acquirers/receipt-terms.ts';
import { shownTerms, receiptCurrencyMistake, sumMistake } from '../../rules/receipt.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { policyRefusal, type PaymentRequest, servingBank } from '../create-payment.ts';
import type { PaymentsDeps, SellingShop } from '../parts.ts';
import { paymentDefaults } from '../rules/create.ts';
import { PaymentLinkEntity, type PaymentLink } from '../entities.ts';
import {
  addressOf,
  linkReceiptMistake,
  linkTerms,
  type LinkInput,
  type LinkTerms,
} from './rules.ts';
import { loadLinks } from './store-link.ts';

interface LinkRequest extends Pick<PaymentRequest, 'idempotency'> {
  readonly input: LinkInput;
}

/** A link that has not been paid yet. */
const newLink = (
  terms: LinkTerms,
  { merchantId, shopId, mode }: SellingShop,
  id: string,
  createdAt: Temporal.Instant,
): Omit<PaymentLink, 'url' | 'receipt'> => ({
  ...terms,
  merchantId,
  id,
  shopId,
  mode,
  status: 'active',
  usesLeft: terms.uses,
  paymentsCount: 0,
  amountPaid: '0',
  createdAt,
  finalizedAt: null,
});

/**
 * Makes a link of the seller's shop, or finds the one that an earlier call with the same idempotency
 * key made. Refuses with `bad_request`, as a payment would be by the operator's lists, where no bank
 * serves the method, or about the key; nothing was made then.
 */
export const createLink = async (
  deps: Pick<PaymentsDeps, 'database' | 'customers' | 'banks' | 'policies' | 'publicUrl'>,
  key: SellingShop,
  { input, idempotency }: LinkRequest,
  now: Temporal.Instant,
  acting: Acting,
): Promise<Created<PaymentLink> | Refusal> => {
  const claim = claimOf(idempotency, 'linkCreate', input);
  if (isRefusal(claim)) return claim;
  const id = randomUUID();
  const { pool } = deps.database;
  const { merchantId, mode } = key;
  const terms = linkTerms(input, mode, id, now);
  if (isRefusal(terms)) return terms;
  const given = givenReceipt(deps.customers, input.receipt, now);
  if (isRefusal(given)) return given;
  const sums = given && sumMistake(given.terms, terms.amount ?? 0n);
  if (sums) return sums;
  const { method, currency, capture } = terms;
  const served = { method, currency, capture: capture ?? paymentDefaults.capture };
  const bank = await servingBank(deps.banks, key, served);
  const refusal =
    linkReceiptMistake(key, terms, given) ??
    (given && receiptCurrencyMistake(currency)) ??
    policyRefusal(await deps.policies.current(), key, terms, given?.terms.customer.phone ?? null) ??
    (isRefusal(bank) ? bank : null);
  const find = async (linkId: string): Promise<PaymentLink | null> =>
    (await loadLinks(pool, [{ merchantId, id: linkId }]))[0] ?? null;
  const link = {
    ...newLink(terms, key, id, now),
    url: `${deps.publicUrl}/pay/l/${addressOf(id)}`,
    receipt: given && shownTerms(given.terms),
  };
  return createOnce(pool, { caller: key, claim, find, resourceId: id, at: now }, async (client) => {
    if (refusal) return refusal;
    await emOn(client).insert(PaymentLinkEntity, link);
    const subject = { ...link, subjectId: id, paymentId: null };
    if (given) await insertTerms(client, [termsRow(given, subject)]);
    if (acting.principal.kind === 'operator') {
      const after = { shopId: key.shopId, mode, amount: link.amount, currency };
      const action = { action: 'link.create', merchantId, id } as const;
      await writeEntry(client, acting, action, { before: null, after });
    }
    return link;
  });
};
