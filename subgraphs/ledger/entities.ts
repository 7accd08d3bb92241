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

/** A change of a balance that the fold has not taken up yet. */
const BalanceDelta = defineEntity({
  name: 'BalanceDelta',
  tableName: 'balance_delta',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    currency: p.text(),
    account: p.text().$type<Account>(),
    /** Signed. */
    amount: p.bigint(),
    /** The hour of the fact, in UTC. */
    hour: instant(),
    /** What `amount` consists of, by the type of the postings. */
    moved: p.json<Partial<Record<PostingType, string>>>().columnType('jsonb'),
  },
  // The function keeps the bounds of balances (`ledger/balance`). Its text: `initial/6-ledger.sql`.
  triggers: [
    {
      name: 'bound',
      timing: 'after',
      events: ['insert'],
      forEach: 'row',
      expression:
        'create trigger bound after insert on balance_delta for each row execute function balance_keep_bound()',
    },
  ],
});

/** The folded balance of an account of a shop. */
const Balance = defineEntity({
  name: 'Balance',
  tableName: 'balance',
  properties: {
    merchantId: p.uuid().primary(),
    shopId: p.uuid().primary(),
    mode: p.text().$type<Mode>().primary(),
    currency: p.text().primary(),
    account: p.text().$type<Account>().primary(),
    /** Signed: refunds may take it below zero. */
    amount: p.bigint(),
  },
});

/** What an account gained and lost by postings of a type in an hour. */
const LedgerHour = defineEntity({
  name: 'LedgerHour',
  tableName: 'ledger_hour',
  properties: {
    merchantId: p.uuid().primary(),
    mode: p.text().$type<Mode>().primary(),
    currency: p.text().primary(),
    /** When the hour began, in UTC. */
    hour: instant().primary(),
    shopId: p.uuid().primary(),
    account: p.text().$type<Account>().primary(),
    type: p.text().$type<PostingType>().primary(),
    /** Signed; an hour of the largest amounts is more than a bigint holds. */
    amount: p.decimal().columnType('numeric'),
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

export const ledgerEntities = [
  PostingEntity,
  BalanceDelta,
  Balance,
  LedgerHour,
  BooksCheckEntity,
  RateEntity,
];

// Totals by the hour, and the facts counted in them. An hour counts what was made in it, in its
// current state: a payment that is refunded in May still belongs to its hour in April.

export const countedKinds = ['payment', 'refund', 'payout'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Every status of a counted fact; each has two columns of an hour. */
export const countedStatuses = enums.PaymentStatus;
export type CountedStatus = (typeof countedStatuses)[number];

const count = () => p.bigint();
/** A thousand payments of the largest amount are more than a bigint holds. */
const sum = () => p.decimal().columnType('numeric');

/**
 * An hour of a shop, of a merchant (its shop is the id of zeros), or of all merchants (so is its
 * merchant). Counts and ordered amounts by status; `moved` is the money that came or went, `fee`
 * what was withheld for it.
 */
const HourlyTotal = defineEntity({
  name: 'HourlyTotal',
  tableName: 'hourly_total',
  properties: {
    merchantId: p.uuid().primary(),
    shopId: p.uuid().primary(),
    mode: p.text().$type<Mode>().primary(),
    currency: p.text().primary(),
    /** A kind, or `<kind>_failure`: its failures, by code and nothing else. */
    kind: p.text().$type<`${CountedKind}${'' | '_failure'}`>().primary(),
    /** When the hour began, in UTC. */
    hour: instant().primary(),
    /** Empty in failures. */
    method: p.text().primary(),
    /** The bank's connector; empty where none was chosen, and in failures. */
    bank: p.text().primary(),
    /** Empty but in failures. */
    failureCode: p.text().primary(),
    countPending: count(),
    countProcessing: count(),
    countAuthorized: count(),
    countSucceeded: count(),
    countFailed: count(),
    countExpired: count(),
    countCancelled: count(),
    countRefunded: count(),
    amountPending: sum(),
    amountProcessing: sum(),
    amountAuthorized: sum(),
    amountSucceeded: sum(),
    amountFailed: sum(),
    amountExpired: sum(),
    amountCancelled: sum(),
    amountRefunded: sum(),
    moved: sum(),
    fee: sum(),
  },
});

/** The counted state of a payment, refund or payout: subtracted when it changes. */
const CountedFact = defineEntity({
  name: 'CountedFact',
  tableName: 'counted_fact',
  properties: {
    merchantId: p.uuid().primary(),
    hour: instant().primary(),
    shopId: p.uuid().primary(),
    kind: p.text().$type<CountedKind>().primary(),
    id: p.uuid().primary(),
    mode: p.text().$type<Mode>(),
    currency: p.text(),
    method: p.text(),
    bank: p.text(),
    failureCode: p.text(),
    status: p.text().$type<CountedStatus>(),
    amount: p.bigint(),
    moved: p.bigint(),
    fee: p.bigint(),
  },
});

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

export const totalsEntities = [HourlyTotal, CountedFact, TotalsWalkEntity];
