/**
 * Totals by the hour, and the facts counted in them. An hour counts what was made in it, in its
 * current state: a payment that is refunded in May still belongs to its hour in April.
 */
import { defineEntity, p } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Mode } from '../../rules/mode.ts';

/** What is counted. */
export const countedKinds = ['payment', 'refund', 'payout'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Every status of a counted fact; each has two columns of an hour. */
export const countedStatuses = [
  'pending',
  'processing',
  'authorized',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
  'refunded',
] as const;
export type CountedStatus = (typeof countedStatuses)[number];

const instant = () => p.type(InstantType).$type<Temporal.Instant>();
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
  indexes: [
    {
      name: 'hourly_total_lately',
      properties: ['hour'],
      where:
        "kind = 'payment' and mode = 'live' and shop_id = '00000000-0000-0000-0000-000000000000'",
    },
  ],
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
const TotalsWalk = defineEntity({
  name: 'TotalsWalk',
  tableName: 'totals_walk',
  properties: {
    name: p.text().$type<'payment' | 'payout'>().primary(),
    /** The key of the last row that was counted. */
    atMerchantId: p.uuid(),
    atId: p.uuid(),
  },
});

export const totalsEntities = [HourlyTotal, CountedFact, TotalsWalk];
