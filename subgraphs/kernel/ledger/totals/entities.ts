/**
 * Totals by the hour, and what is counted in them (decision A-250). An hour counts what was made
 * in it, as it is now: a payment that is refunded in May still belongs to its hour in April.
 */
import { defineEntity, p } from '@mikro-orm/core';
import { InstantType } from '../../database/instant.ts';
import type { Mode } from '../../rules/mode.ts';

/** What is counted. */
export const countedKinds = ['payment', 'refund', 'payout'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Every status that something counted may have; each has two columns of an hour. */
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
const whole = () => p.bigint();

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
    /**
     * A kind, or `<kind>_failure`: what failed of it, by code and nothing else. With `_large`
     * behind it the row has the large units of the same amounts (`large-amounts`).
     */
    kind: p.text().$type<`${CountedKind}${'' | '_failure'}${'' | '_large'}`>().primary(),
    /** When the hour began, in UTC. */
    hour: instant().primary(),
    /** Empty in failures. */
    method: p.text().primary(),
    /** The bank's connector; empty where none was chosen, and in failures. */
    bank: p.text().primary(),
    /** Empty but in failures. */
    failureCode: p.text().primary(),
    countPending: whole(),
    countProcessing: whole(),
    countAuthorized: whole(),
    countSucceeded: whole(),
    countFailed: whole(),
    countExpired: whole(),
    countCancelled: whole(),
    countRefunded: whole(),
    amountPending: whole(),
    amountProcessing: whole(),
    amountAuthorized: whole(),
    amountSucceeded: whole(),
    amountFailed: whole(),
    amountExpired: whole(),
    amountCancelled: whole(),
    amountRefunded: whole(),
    moved: whole(),
    fee: whole(),
  },
});

/** As what a payment, refund or payout is counted: what is taken off when it becomes another. */
const CountedFact = defineEntity({
  name: 'CountedFact',
  tableName: 'counted_fact',
  properties: {
    merchantId: p.uuid().primary(),
    shopId: p.uuid().primary(),
    kind: p.text().$type<CountedKind>().primary(),
    id: p.uuid().primary(),
    mode: p.text().$type<Mode>(),
    currency: p.text(),
    hour: instant(),
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
