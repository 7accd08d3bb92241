/** Creates a payment link. Additions: POST /v1/public/links. */
import type pg from 'pg';
import { randomUUID } from 'node:crypto';
import type { Banks } from '../../acquirers/route.ts';
import { writeEntry, type Acting } from '../../platform/database/audit.ts';
import { claimOf, createOnce, type Created } from '../../platform/database/idempotency.ts';
import type { CustomerVault } from '../../platform/database/kept-keys.ts';
import type { Database } from '../../platform/database/orm.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import type { Policies } from '../../platform/policies/policies.ts';
import { givenReceipt, insertTerms, termsRow } from '../../acquirers/receipt-terms.ts';
import { shownTerms, receiptCurrencyMistake, sumMistake } from '../../rules/receipt.ts';
import { isRefusal, type Refusal } from '../../rules/refusal.ts';
import { policyRefusal, type PaymentRequest, servingBank } from '../create-payment.ts';
import { paymentDefaults } from '../rules/create.ts';
import type { SellingShop } from '../seller.ts';
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

/** Records that a person made the link. */
const recordLink = (
  client: pg.PoolClient,
  acting: Acting,
  { merchantId, id, shopId, mode, amount, currency }: PaymentLink,
): Promise<void> =>
  writeEntry(
    client,
    acting,
    { action: 'link.create', merchantId, id },
    { before: null, after: { shopId, mode, amount, currency } },
  );

/**
 * Makes a link of the seller's shop, or finds the one that an earlier call with the same idempotency
 * key made. Refuses with `bad_request`, as a payment would be by the operator's lists, where no bank
 * serves the method, or about the key; nothing was made then.
 */
export const createLink = async (
  {
    database: { pool },
    customers,
    banks,
    policies,
    publicUrl,
  }: {
    readonly database: Database;
    readonly customers: Pick<CustomerVault, 'seal'>;
    readonly banks: Banks;
    readonly policies: Pick<Policies, 'current'>;
    readonly publicUrl: string;
  },
  key: SellingShop,
  { input, idempotency }: LinkRequest,
  now: Temporal.Instant,
  acting: Acting,
): Promise<Created<PaymentLink> | Refusal> => {
  const claim = claimOf(idempotency, 'linkCreate', input);
  if (claim && isRefusal(claim)) return claim;
  const id = randomUUID();
  const { merchantId, mode } = key;
  const terms = linkTerms(input, mode, id, now);
  if (isRefusal(terms)) return terms;
  const given = givenReceipt(customers, input.receipt, now);
  if (given && isRefusal(given)) return given;
  const sums = given && sumMistake(given.terms, terms.amount ?? 0n);
  if (sums) return sums;
  const { method, currency, capture } = terms;
  const served = { method, currency, capture: capture ?? paymentDefaults.capture };
  const bank = await servingBank(banks, key, served);
  const refusal =
    linkReceiptMistake(key, terms, given) ??
    (given && receiptCurrencyMistake(currency)) ??
    policyRefusal(await policies.current(), key, terms, given?.terms.customer.phone ?? null) ??
    (bank && isRefusal(bank) ? bank : null);
  const find = async (linkId: string): Promise<PaymentLink | null> =>
    (await loadLinks(pool, [{ merchantId, id: linkId }]))[0] ?? null;
  const link = {
    ...newLink(terms, key, id, now),
    url: `${publicUrl}/pay/l/${addressOf(id)}`,
    receipt: given && shownTerms(given.terms),
  };
  return createOnce(pool, { caller: key, claim, find, resourceId: id, at: now }, async (client) => {
    if (refusal) return refusal;
    await emOn(client).insert(PaymentLinkEntity, link);
    const subject = { ...link, subjectId: id, paymentId: null };
    if (given) await insertTerms(client, [termsRow(given, subject)]);
    if (acting.principal.kind === 'operator') await recordLink(client, acting, link);
    return link;
  });
};
