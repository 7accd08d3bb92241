/**
 * One payment of a history, lived on the real verbs and a real database. The bank says what the
 * history says, and nothing by itself.
 */
import assert from 'node:assert/strict';
import type { Bank, RefundAnswer, BankAnswer } from '../../subgraphs/acquirers/bank.ts';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { readBalancesAt } from '../../subgraphs/ledger/closing.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { applyRefundAnswer } from '../../subgraphs/payments/refunds/send-refund.ts';
import { cancelPayment } from '../../subgraphs/payments/cancel-payment.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment, Refund } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { findPayment, findRefunds } from '../../subgraphs/payments/store-payment.ts';
import type { MigratedDatabase } from '../support/migrated.ts';
import type { Answered } from './payment-model.ts';

const start = Temporal.Instant.from('2026-11-21T10:00:00Z');
const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};

const answers: Record<Answered | 'unseen', BankAnswer> = {
  approve: { kind: 'approved', reference: 'r', rrn: '1', traits },
  decline: { kind: 'declined', failureCode: 'do_not_honor', bankCode: 'x' },
  silent: { kind: 'unknown' },
  pending: { kind: 'pending', askAt: null },
  unseen: { kind: 'unseen' },
};
const refundAnswers: Record<Answered, RefundAnswer> = {
  approve: { kind: 'approved', reference: 'r' },
  decline: { kind: 'declined', failureCode: 'refund_rejected', bankCode: 'x' },
  silent: { kind: 'unknown' },
  pending: { kind: 'pending', reference: 'r', askAt: null },
};

interface Asked {
  readonly amount: bigint | null;
  readonly id: string | null;
}

export class LivedPayment {
  readonly #migrated: MigratedDatabase;
  readonly #key: KeyPrincipal;
  readonly #amount: bigint;
  readonly #id: string;
  /** What refunds were asked for, in order, and the ids of those that were made. */
  readonly #asked: Asked[] = [];
  #minutes = 0;
  #calls = 0;
  /** What the balance was, and when. */
  readonly #remembered: {
    readonly at: Temporal.Instant;
    readonly balance: { balance: bigint; available: bigint };
  }[] = [];

  private constructor(migrated: MigratedDatabase, key: KeyPrincipal, { id, amount }: Payment) {
    this.#migrated = migrated;
    this.#key = key;
    this.#amount = amount;
    this.#id = id;
  }

  /** Creates it, under an Idempotency-Key. */
  static async create(
    migrated: MigratedDatabase,
    key: KeyPrincipal,
    amount: bigint,
  ): Promise<LivedPayment> {
    const request = { input: { amount, method: 'sbp' as const }, idempotency: { key: 'payment' } };
    const created = await recordPayment(migrated.database, noPolicies, key, request, start);
    assert.ok(!isRefusal(created) && !created.replayed);
    return new LivedPayment(migrated, key, created.payment);
  }

  get #database() {
    return this.#migrated.database;
  }

  get #payment() {
    return { merchantId: this.#key.merchantId, paymentId: this.#id };
  }

  /**
   * Every call comes a little later than the one before: refunds are listed by their moment. After
   * a wait it is later than its minutes, too, so that what began at any call before it and lasts as
   * long is over.
   */
  #now(): Temporal.Instant {
    this.#calls += 1;
    return this.#lastNow();
  }

  #lastNow(): Temporal.Instant {
    return start.add({ minutes: this.#minutes, milliseconds: this.#calls });
  }

  #bank(refund: Answered): Banks {
    const banks = openBanks(openSimulator(this.#database), this.#database.pool);
    const bank: Bank = {
      ...banks.simulator,
      ask: () => Promise.resolve(answers.silent),
      refund: () => Promise.resolve(refundAnswers[refund]),
    };
    return {
      ...banks,
      candidates: () => Promise.resolve([bank]),
      route: () => Promise.resolve(bank),
      bankOf: () => bank,
    };
  }

  async session(): Promise<void> {
    await openSession(this.#database, this.#bank('silent'), noPolicies, {
      key: this.#payment,
      card: null,
      pageUrl: 'https://pay.example/p',
      now: this.#now(),
    });
  }

  async cancel(): Promise<void> {
    await cancelPayment(this.#database, this.#key, this.#id, this.#now());
  }

  /** Lets time pass until so many minutes after the beginning. */
  async waitUntil(at_min: number): Promise<void> {
    this.#minutes = at_min;
    const now = this.#now();
    // A round passes over what a last question is still writing: the next one meets it.
    while ((await expirePayments(this.#database, this.#bank('silent'), () => now)) > 0);
  }

  async bankAnswers(answered: Answered | 'unseen', times: number): Promise<void> {
    const now = this.#now();
    await Promise.all(
      Array.from({ length: times }, () =>
        applyBankAnswer(this.#database, this.#payment, 'bank', answers[answered], now),
      ),
    );
  }

  #refund(index: number, amount: bigint | null, answered: Answered) {
    const request = {
      paymentId: this.#id,
      amount,
      reason: null,
      idempotency: { key: `refund-${index}` },
    };
    return refundPayment(this.#database, this.#bank(answered), this.#key, request, this.#now());
  }

  /** Asks for a refund; gives the refusal, if it was refused. */
  async refund(amount: bigint | null, answered: Answered): Promise<string | null> {
    const made = await this.#refund(this.#asked.length, amount, answered);
    this.#asked.push({ amount, id: isRefusal(made) ? null : made.refund.id });
    return isRefusal(made) ? made.code : null;
  }

  /** Gives what became of a refund; nothing when there is no such refund. */
  async answer(of: number, answered: Answered, times: number): Promise<void> {
    const refund = (await this.refunds())[of];
    const now = this.#now();
    if (refund)
      await Promise.all(
        Array.from({ length: times }, () =>
          applyRefundAnswer(this.#database, refund, refundAnswers[answered], now),
        ),
      );
  }

  /**
   * Repeats a creation: the payment's (0), or a refund's. What was made before is found, whatever
   * has become of it since.
   */
  async replay(of: number): Promise<void> {
    const asked = this.#asked[of - 1];
    if (of === 0) {
      const request = {
        input: { amount: this.#amount, method: 'sbp' as const },
        idempotency: { key: 'payment' },
      };
      const again = await recordPayment(
        this.#database,
        noPolicies,
        this.#key,
        request,
        this.#now(),
      );
      assert.ok(!isRefusal(again) && again.replayed && again.payment.id === this.#id);
    } else if (asked?.id) {
      const again = await this.#refund(of - 1, asked.amount, 'approve');
      assert.ok(!isRefusal(again) && again.replayed && again.refund.id === asked.id);
    }
  }

  async payment(): Promise<Payment> {
    return (
      (await findPayment(this.#database.pool, this.#payment, start))?.payment ?? assert.fail('gone')
    );
  }

  refunds(): Promise<Refund[]> {
    return findRefunds(this.#database.pool, [{ merchantId: this.#key.merchantId, id: this.#id }]);
  }

  async balance(): Promise<{ balance: bigint; available: bigint }> {
    const [row] = await readBalances(
      this.#database.pool,
      this.#key.merchantId,
      this.#key.mode,
      'RUB',
    );
    return { balance: row?.balance ?? 0n, available: row?.available ?? 0n };
  }

  /** Keeps the balance as it is now for `provePast`. */
  async remember(): Promise<void> {
    this.#remembered.push({ at: this.#lastNow(), balance: await this.balance() });
  }

  /** The balance as of each moment that was remembered is what it was then. */
  async provePast(): Promise<void> {
    for (const { at, balance: then } of this.#remembered) {
      const [row] = await readBalancesAt(
        this.#database.pool,
        this.#key.merchantId,
        this.#key.mode,
        'RUB',
        at,
      );
      assert.deepEqual(
        { balance: row?.balance, available: row?.available },
        then,
        `the balance as of ${at.toString()}`,
      );
    }
  }

  async #texts(query: string): Promise<string[]> {
    const { rows } = await this.#database.pool.query<{ text: string }>(query, [
      this.#key.merchantId,
    ]);
    return rows.map(({ text }) => text);
  }

  webhooks(): Promise<string[]> {
    return this.#texts(
      'select webhook_event as text from event where merchant_id = $1 and webhook_event is not null order by position',
    );
  }

  alerts(): Promise<string[]> {
    return this.#texts(
      'select kind as text from alert where merchant_id = $1 order by raised_at, kind',
    );
  }

  /** Each account with what its postings come to. */
  async books(): Promise<ReadonlyMap<string, bigint>> {
    const rows =
      await this.#texts(`select account || ' ' || sum(amount) as text from (select to_account as account, amount from posting where merchant_id = $1
      union all select from_account, -amount from posting where merchant_id = $1) as moved group by account`);
    return new Map(
      rows
        .map((row) => row.split(' '))
        .map(([account = '', amount = '']) => [account, BigInt(amount)]),
    );
  }

  /** A number that grows with everything that is ever written of it. */
  async writings(): Promise<string> {
    const [text] =
      await this.#texts(`select concat_ws(' ', (select sum(version) from payment where merchant_id = $1), (select count(*) from posting where merchant_id = $1),
      (select count(*) from event where merchant_id = $1), (select count(*) from refund where merchant_id = $1), (select count(*) from alert where merchant_id = $1)) as text`);
    return text ?? '';
  }
}
