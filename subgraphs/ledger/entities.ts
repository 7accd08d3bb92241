/**
 * The books. A posting moves one amount from one account to another; balances append: a business
 * fact adds deltas, the fold moves them into the balance rows and the ledger's hours, and a balance is
 * the row plus its unfolded deltas.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { enums } from '../../schema/generated/enums.ts';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import type { Account, PostingType } from '../rules/postings.ts';
import type { SettableMethod } from './rate.ts';

/** The fact of a posting: unique together with the type, so that a fact is booked once. */
export type SourceKind = 'payment' | 'refund' | 'payout' | 'settlement' | 'adjustment';

export const PostingEntity = defineEntity({
  name: 'PostingEntry',
  tableName: 'posting',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    currency: p.text(),
    type: p.text().$type<PostingType>(),
    fromAccount: p.text().$type<Account>(),
    toAccount: p.text().$type<Account>(),
    amount: p.bigint(),
    description: p.text(),
    sourceKind: p.text().$type<SourceKind>(),
    sourceId: p.uuid(),
    paymentId: p.uuid().strictNullable(),
    payoutId: p.uuid().strictNullable(),
    createdAt: instant(),
  },
});

/** When the books of a merchant were checked, and how far the check under way is. */
export const BooksCheckEntity = defineEntity({
  name: 'BooksCheck',
  tableName: 'books_check',
  properties: {
    merchantId: p.uuid().primary(),
    /** Everything older has been checked. */
    checkedAt: instant(),
    /** When the check under way began. */
    beganAt: instant().nullable(),
    dueAt: instant(),
    step: p.text().default('payment'),
    at: p.text().default('00000000-0000-0000-0000-000000000000'),
    sums: p.json<object>().columnType('jsonb').defaultRaw(`'[]'`),
    isDoubted: p.boolean().default(false),
  },
});

/** A rate of the platform (no merchant), a merchant (no shop) or a shop; the most specific wins. */
export const RateEntity = defineEntity({
  name: 'Rate',
  tableName: 'rate',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.uuid().strictNullable(),
    shopId: p.uuid().strictNullable().groups('audit'),
    method: p.text().$type<SettableMethod>().groups('audit'),
    /** Basis points. */
    rateBps: p.integer().groups('audit'),
    /** It holds from this moment on. */
    since: instant().groups('audit'),
  },
});

export type Rate = Row<InferEntity<typeof RateEntity>>;

// Totals by the hour, and the facts counted in them. An hour counts what was made in it, in its
// current state: a payment that is refunded in May still belongs to its hour in April.

export const countedKinds = ['payment', 'refund', 'payout'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Every status of a counted fact; each has two columns of an hour. */
export const countedStatuses = enums.PaymentStatus;
export type CountedStatus = (typeof countedStatuses)[number];

/** A table that is counted anew; it has no row when that is done. */
export const TotalsWalkEntity = defineEntity({
  name: 'TotalsWalk',
  tableName: 'totals_walk',
  properties: {
    name: p.text().$type<'payment' | 'payout'>().primary(),
    /** The key of the last row that was counted. */
    atMerchantId: p.uuid(),
    atId: p.uuid(),
  },
});

export const ledgerEntities = [PostingEntity, BooksCheckEntity, RateEntity, TotalsWalkEntity];
