/**
 * Lives of subscriptions as text tables: one step a line, `verb arguments -> what is seen`. The
 * verbs are the real ones, and so are payments, the simulated bank and the consumer; time is what
 * the table says it is.
 *
 * start sbp month 10_000 [every 2] [trial 14] -> pending pay -> active next 2026-12-21 decline ->
 * cancelled binding_failed expire -> cancelled binding_expired on 2026-12-21 -> what is due by
 * 10:00 of that day is charged priced 10_002 -> from now on the bank declines pause, resume, cancel
 * [reason] -> paused charges -> 1.1 succeeded, 2.1 failed insufficient_funds reported -> active
 * past_due: what live consoles have received of it upcoming -> 2027-01-21 2027-02-21 ... taken ->
 * 30_000: what has arrived in the merchant's balance
 */
import assert from 'node:assert/strict';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import {
  cancelSubscription,
  pauseSubscription,
  resumeSubscription,
} from '../../subgraphs/recurring/subscriptions/stop-subscription.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import {
  loadTokens,
  findCharges,
  loadSubscriptions,
  upcomingDates,
} from '../../subgraphs/recurring/find-recurring.ts';
import { paymentListeners } from '../../subgraphs/recurring/payment-listeners.ts';
import { schedulePeriods } from '../../subgraphs/recurring/rules/schedule.ts';
import type { SubscriptionInput } from '../../subgraphs/recurring/rules/start.ts';
import { startSubscription } from '../../subgraphs/recurring/subscriptions/start-subscription.ts';
import type { Subscription } from '../../subgraphs/recurring/entities.ts';
import { granted } from '../support/granted.ts';
import { log, type Harness } from './harness.ts';

const amountOf = (text: string | undefined): bigint => BigInt((text ?? '').replaceAll('_', ''));
const written = (amount: bigint): string => amount.toString().replaceAll(/\B(?=(\d{3})+$)/g, '_');
const day = (moment: Temporal.Instant | null): string => moment?.toString().slice(0, 10) ?? '';

/** What the sweep needs. */
export const chargingOf = ({ database: { pool }, payments }: Harness) => ({ pool, payments, log });

/** Starts a subscription as a key does. */
export const start = (
  harness: Harness,
  key: KeyPrincipal,
  input: SubscriptionInput,
  idempotency?: string,
) => {
  const { parts: own, payments, lists: policies } = harness;
  const parts = { ...own, payments, policies };
  const request = {
    input,
    idempotency: idempotency === undefined ? null : { key: idempotency },
    requestId: 'test',
  };
  return startSubscription(parts, key, request, harness.call().now);
};

/** The subscription as it is now. */
export const readSubscription = async (
  harness: Harness,
  { merchantId, id }: Pick<Subscription, 'merchantId' | 'id'>,
): Promise<Subscription> =>
  (await loadSubscriptions(harness.database.pool, [{ merchantId, id }]))[0] ??
  assert.fail('the subscription is gone');

/** Follows everything that waits. */
export const followAll = async (harness: Harness): Promise<void> => {
  while ((await harness.follow(paymentListeners)) > 0);
};

/** The buyer continues to the bank and confirms or declines there; the news is followed. */
const payFirst = async (
  harness: Harness,
  { merchantId, tokenId }: Subscription,
  approve = true,
): Promise<void> => {
  const [token] = await loadTokens(harness.database.pool, [{ merchantId, id: tokenId }]);
  await harness.pay(token ?? assert.fail('there is no token'), approve);
  await followAll(harness);
};

/** A subscription that is active, of `input` by SBP. */
export const activeSubscription = async (
  harness: Harness,
  key: KeyPrincipal,
  input: Partial<SubscriptionInput> = {},
): Promise<Subscription> => {
  const { subscription } = granted(
    await start(harness, key, { amount: 10_000n, customerRef: 'c-1', method: 'sbp', ...input }),
  );
  await payFirst(harness, subscription);
  return readSubscription(harness, subscription);
};

class Life {
  readonly #harness: Harness;
  readonly #key: KeyPrincipal;
  #subscription: Subscription | null = null;

  constructor(harness: Harness, key: KeyPrincipal) {
    this.#harness = harness;
    this.#key = key;
  }

  readonly #now = (): Temporal.Instant => this.#harness.call().now;

  get #id() {
    const { merchantId, id } = this.#subscription ?? assert.fail('nothing was started');
    return { merchantId, id };
  }

  async #seen(result?: Subscription | Refusal): Promise<string> {
    if (result && isRefusal(result)) return `refused ${result.code}`;
    const { status, nextChargeAt, dueAt, cancelReason } = await readSubscription(
      this.#harness,
      this.#id,
    );
    const retry = status === 'past_due' && dueAt ? ` retry ${day(dueAt)}` : '';
    return `${status}${nextChargeAt ? ` next ${day(nextChargeAt)}` : ''}${retry}${cancelReason ? ` ${cancelReason}` : ''}`;
  }

  async #start([method, period, amount, ...options]: readonly string[]): Promise<string> {
    const option = (name: string): number | undefined =>
      options.includes(name) ? Number(options[options.indexOf(name) + 1]) : undefined;
    const input: SubscriptionInput = {
      amount: amountOf(amount),
      customerRef: 'c-1',
      method: method === 'cards' || method === 'tpay' ? method : 'sbp',
      period: schedulePeriods.find((known) => known === period),
      intervalCount: option('every'),
      trialDays: option('trial'),
    };
    const started = await start(this.#harness, this.#key, input);
    if (isRefusal(started)) return `refused ${started.code}`;
    this.#subscription = started.subscription;
    return this.#seen();
  }

  /** Moves the clock to 10:00 of a day, and lives what is due then. */
  async #on(date: string | undefined): Promise<string> {
    const moment = Temporal.Instant.from(`${date}T10:00:00Z`);
    this.#harness.pass({ milliseconds: moment.epochMilliseconds - this.#now().epochMilliseconds });
    await chargeDue(chargingOf(this.#harness), this.#now);
    const { database, banks } = this.#harness;
    await expirePayments(database, banks, this.#now);
    await followAll(this.#harness);
    return this.#seen();
  }

  async #charges(): Promise<string> {
    const [charges = []] = await findCharges(this.#harness.database.pool, [this.#id]);
    return charges
      .map(
        ({ period, attempt, status, failureCode }) =>
          `${period}.${attempt} ${status}${failureCode ? ` ${failureCode}` : ''}`,
      )
      .join(', ');
  }

  async #received(): Promise<string> {
    const { rows } = await this.#harness.database.pool.query<{ status: string }>(
      `select payload->>'status' as status from event where subject_id = $1 and stream_kind = 'subscription.status_changed' order by created_at`,
      [this.#id.id],
    );
    return rows.map(({ status }) => status).join(' ');
  }

  async #expire(): Promise<string> {
    const { database, banks } = this.#harness;
    this.#harness.pass({ minutes: 61 });
    await expirePayments(database, banks, this.#now);
    await followAll(this.#harness);
    return this.#seen();
  }

  async #priced(amount: string | undefined): Promise<string> {
    await this.#harness.database.pool.query('update subscription set amount = $2 where id = $1', [
      this.#id.id,
      amountOf(amount),
    ]);
    return this.#seen();
  }

  async #cancel(words: readonly string[]): Promise<string> {
    const { database, payments } = this.#harness;
    const request = { id: this.#id.id, reason: words.join(' ') || null, requestId: 'test' };
    const result = await cancelSubscription(
      database.pool,
      payments,
      this.#key,
      request,
      this.#now(),
    );
    await followAll(this.#harness);
    return this.#seen(result);
  }

  /** Does one step; gives what is seen of it. */
  async step(verb: string, rest: readonly string[]): Promise<string> {
    const { database } = this.#harness;
    const acting = {
      principal: { kind: 'operator', subject: 'p', role: 'support', merchantId: null },
      requestId: 'test',
      now: this.#now,
    } as const;
    switch (verb) {
      case 'start':
        return this.#start(rest);
      case 'pay':
      case 'decline':
        await payFirst(
          this.#harness,
          await readSubscription(this.#harness, this.#id),
          verb === 'pay',
        );
        return this.#seen();
      case 'expire':
        return this.#expire();
      case 'on':
        return this.#on(rest[0]);
      case 'priced':
        return this.#priced(rest[0]);
      case 'pause':
        return this.#seen(
          await pauseSubscription(database, acting, {
            ...this.#id,
            reason: null,
            at: acting.now(),
          }),
        );
      case 'resume':
        return this.#seen(
          await resumeSubscription(database, acting, { ...this.#id, at: acting.now() }),
        );
      case 'cancel':
        return this.#cancel(rest);
      case 'charges':
        return this.#charges();
      case 'reported':
        return this.#received();
      case 'upcoming':
        return upcomingDates(await readSubscription(this.#harness, this.#id))
          .map(day)
          .join(' ');
      case 'taken':
        return written((await this.#harness.books(this.#key)).balance);
      default:
        return assert.fail(`no verb ${verb}`);
    }
  }
}

/**
 * Lives a table; fails at the first line whose outcome is another. Gives how many lines it lived.
 */
export const live = async (harness: Harness, key: KeyPrincipal, table: string): Promise<number> => {
  const life = new Life(harness, key);
  const lines = table.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [step = '', expected = ''] = line
      .split('->')
      .map((part) => part.trim().replaceAll(/\s+/g, ' '));
    const [verb = '', ...rest] = step.split(' ');
    assert.equal(await life.step(verb, rest), expected, line.trim());
  }
  return lines.length;
};
