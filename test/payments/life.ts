/**
 * Lives of payments as text tables: one step a line, `verb payment arguments -> what is seen`. The
 * verbs are the real ones, on a real database.
 *
 *   create  P1 10_000 any [ttl 5]    -> pending (or `callbacks late`: how the simulator answers)
 *   create  P1 10_000 any            -> pending
 *   choose  P1 sbp                   -> pending
 *   session P1                       -> processing
 *   bank    P1 approve               -> succeeded fee 70
 *   bank    P1 decline do_not_honor  -> failed
 *   cancel  P1                       -> cancelled | 409 not_pending
 *   capture P1 4_000                 -> succeeded fee 0: the money that the bank holds, or a part
 *   hold    P1                       -> capturable 10_000 captured 0 release: what is ordered
 *   lost    P1                       -> processing: the process dies before the bank is called
 *   unheard P1                       -> processing: the process dies after the bank is called
 *   order   P1                       -> absent | unanswered | standing: the order at the bank
 *   after   20 min                   -> what is due expires
 *   expire  P1                       -> expired session_expired at its time; the bank is silent
 *   status  P1                       -> succeeded
 *   balance                          -> 9_930
 *   available                        -> 5_930
 *   ledger                           -> payment 10_000, refund -4_000
 *   late    P1                       -> true captured fee null refunded 0
 *   alerts                           -> late_success
 *   webhooks                         -> payment.succeeded payment.expired
 *   refund  P1 4_000                 -> succeeded 4_000, P1 succeeded refunded 4_000
 *   refund  P1                       -> what is left
 *   answer  P1 decline | silent      -> failed 405 do_not_honor: to the oldest pending refund
 */
import assert from 'node:assert/strict';
import { openBanks, type Banks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import type { Bank, RefundAnswer, BankAnswer } from '../../subgraphs/acquirers/bank.ts';
import { isFailureCode } from '../../subgraphs/rules/failure-code.ts';
import { isRefusal, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { noPolicies } from '../support/no-policies.ts';
import { applyBankAnswer } from '../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import {
  applyRefundAnswer,
  refundAsks,
  sendRefund,
} from '../../subgraphs/payments/refunds/send-refund.ts';
import { askBank, paymentAsks } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { capturePayment } from '../../subgraphs/payments/holds/capture-payment.ts';
import { cancelOrRelease, endHolds } from '../../subgraphs/payments/cancel-payment.ts';
import { capturableOf, capturedOf } from '../../subgraphs/payments/rules/amounts.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment, Refund } from '../../subgraphs/payments/entities.ts';
import { expirePayments } from '../../subgraphs/payments/expire-payments.ts';
import { receiveCallbacks } from '../../subgraphs/payments/jobs.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { askOrOrder } from '../../subgraphs/payments/bank-answers/order-again.ts';
import { chooseMethod } from '../../subgraphs/payments/checkout/prepare-checkout.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { buyerMethod } from '../../subgraphs/payments/rules/create.ts';
import { orderState } from '../../subgraphs/payments/rules/order.ts';
import { paymentMethods } from '../../subgraphs/payments/rules/payment.ts';
import { findPayment, findRefunds } from '../../subgraphs/payments/store-payment.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { readBalances } from '../../subgraphs/ledger/balance.ts';
import { pageOfLedger } from '../../subgraphs/merchants/ledger/read-ledger.ts';
import type { MigratedDatabase } from '../support/migrated.ts';

/** An amount with its thousands apart: `10_000`. */
const written = (amount: bigint): string => amount.toString().replaceAll(/\B(?=(\d{3})+$)/g, '_');

const words = async (
  { database }: MigratedDatabase,
  { merchantId }: KeyPrincipal,
  query: string,
): Promise<string> => {
  const { rows } = await database.pool.query<{ word: string }>(query, [merchantId]);
  return rows.map(({ word }) => word).join(' ');
};

/** The webhooks that were published, in order. */
const seenWebhooks = (migrated: MigratedDatabase, key: KeyPrincipal): Promise<string> =>
  words(
    migrated,
    key,
    'select webhook_event as word from event where merchant_id = $1 and webhook_event is not null order by position',
  );

/** The kinds of the alerts that were raised, in order. */
const seenAlerts = (migrated: MigratedDatabase, key: KeyPrincipal): Promise<string> =>
  words(
    migrated,
    key,
    'select kind as word from alert where merchant_id = $1 order by raised_at, kind',
  );

/** What the merchant owns, or what of it may be paid out. */
const seenBalance = async (
  { database }: MigratedDatabase,
  { merchantId, mode }: KeyPrincipal,
  what: 'balance' | 'available',
): Promise<string> => {
  const [row] = await readBalances(database.pool, merchantId, mode, 'RUB');
  return written(row?.[what] ?? 0n);
};

/** The ledger, oldest row first. */
const seenLedger = async ({ database }: MigratedDatabase, key: KeyPrincipal): Promise<string> => {
  const page = await pageOfLedger(database.pool, key, { first: 200, columns: {} });
  if (isRefusal(page)) return page.code;
  return page.nodes
    .toReversed()
    .map(({ type, amount }) => `${type} ${written(amount)}`)
    .join(', ');
};

const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};
const card = { number: '4111111111111111', expiry: '12/30', cvc: '123', holder: 'A B' };
const pageUrl = 'https://pay.example/p';
const money = (text: string | undefined): bigint => BigInt((text ?? '').replaceAll('_', ''));
const writtenRefund = ({ status, amount, failReason }: Refund): string =>
  `${status} ${written(amount)}${failReason ? ` ${failReason}` : ''}`;

class Life {
  readonly #migrated: MigratedDatabase;
  readonly #key: KeyPrincipal;
  readonly #payments = new Map<string, Payment>();
  #now = Temporal.Instant.from('2026-11-21T10:00:00Z');

  constructor(migrated: MigratedDatabase, key: KeyPrincipal) {
    this.#migrated = migrated;
    this.#key = key;
  }

  get #banks() {
    return openBanks(openSimulator(this.#migrated.database), this.#migrated.database.pool);
  }

  #of(name: string | undefined): Payment {
    return this.#payments.get(name ?? '') ?? assert.fail(`no payment ${name}`);
  }

  #idOf(name: string | undefined) {
    const { merchantId, id } = this.#of(name);
    return { merchantId, paymentId: id };
  }

  #seen(result: Payment | Refusal): string {
    if (isRefusal(result)) return `refused ${result.code}`;
    const fee = result.fee === null ? '' : ` fee ${written(result.fee)}`;
    return `${result.status}${fee}${result.failureCode ? ` ${result.failureCode}` : ''}`;
  }

  /**
   * The moment at which time ends what the payment waits for, whatever the bank would say: it is
   * not asked.
   */
  async #expire(name: string): Promise<Payment> {
    const { database } = this.#migrated;
    const { processingUntil, expiresAt } = await this.#stored(name);
    this.#now = processingUntil ?? expiresAt;
    const silent = {
      ...this.#banks.simulator,
      ask: () => Promise.resolve({ kind: 'unknown' } as const),
    };
    await expirePayments(database, { ...this.#banks, bankOf: () => silent }, () => this.#now);
    return this.#stored(name);
  }

  /** What a merchant sees of money that came too late. */
  async #late(name: string): Promise<string> {
    const { metadata, capturedAt, fee, amountRefunded } = await this.#stored(name);
    return `${metadata['late_success']} ${capturedAt ? 'captured' : 'never captured'} fee ${fee} refunded ${written(amountRefunded)}`;
  }

  async #create(name: string, rest: readonly string[]): Promise<string> {
    const [amount, method, ...named] = rest;
    const known = paymentMethods.find((candidate) => candidate === method);
    const after = (word: string): string | undefined => named[named.indexOf(word) + 1];
    const ttl = named.includes('ttl') ? Number(after('ttl')) : undefined;
    const metadata = named.includes('callbacks')
      ? { simulator_callbacks: after('callbacks') ?? '' }
      : undefined;
    const capture = named.includes('manual') ? ('manual' as const) : undefined;
    const input = { amount: money(amount), method: known, capture, ttlMinutes: ttl, metadata };
    const created = await recordPayment(
      this.#migrated.database,
      noPolicies,
      this.#key,
      { input },
      this.#now,
    );
    if (!isRefusal(created)) this.#payments.set(name, created.payment);
    return this.#seen(isRefusal(created) ? created : created.payment);
  }

  #choose(name: string, method: string | undefined): Promise<Payment | Refusal> {
    const chosen = buyerMethod(method === 'cards' ? 'cards' : 'sbp') ?? 'sbp';
    const { database } = this.#migrated;
    return chooseMethod(database, this.#banks, this.#idOf(name), chosen, this.#now);
  }

  #cancel(name: string): Promise<Payment | Refusal> {
    const asked = { paymentId: this.#of(name).id, requestId: 'r' };
    return cancelOrRelease(this.#migrated.database, this.#banks, this.#key, asked, this.#now);
  }

  async #capture(name: string, amount: string | undefined): Promise<string> {
    const asked = amount === undefined ? null : money(amount);
    const request = { paymentId: this.#of(name).id, amount: asked };
    const { database } = this.#migrated;
    const captured = await capturePayment(database, this.#banks, this.#key, request, this.#now);
    return this.#seen(isRefusal(captured) ? captured : captured.made);
  }

  async #hold(name: string): Promise<string> {
    const payment = await this.#stored(name);
    const sums = `capturable ${written(capturableOf(payment))} captured ${written(capturedOf(payment))}`;
    return payment.holdOrder ? `${sums} ${payment.holdOrder}` : sums;
  }

  async #stored(name: string): Promise<Payment> {
    return (
      (await findPayment(this.#migrated.database.pool, this.#idOf(name), this.#now))?.payment ??
      assert.fail('gone')
    );
  }

  /** A refund beside its payment as both are now. */
  async #seenRefund(name: string, refund: Refund | Refusal): Promise<string> {
    if (isRefusal(refund)) return `refused ${refund.code}`;
    const { status, amountRefunded } = await this.#stored(name);
    return `${writtenRefund(refund)}, ${name} ${status} refunded ${written(amountRefunded)}`;
  }

  async #refund(name: string, [amount, ...reason]: readonly string[]): Promise<string> {
    const request = {
      paymentId: this.#of(name).id,
      amount: amount === undefined ? null : money(amount),
      reason: reason.join(' ') || null,
    };
    // Refunds are listed by their moment.
    this.#now = this.#now.add({ milliseconds: 1 });
    const created = await refundPayment(
      this.#migrated.database,
      this.#banks,
      this.#key,
      request,
      this.#now,
    );
    return this.#seenRefund(name, isRefusal(created) ? created : created.refund);
  }

  #refunds(name: string): Promise<Refund[]> {
    return findRefunds(this.#migrated.database.pool, [this.#of(name)]);
  }

  async #bankAnswersRefund(name: string, answer: string | undefined): Promise<string> {
    const refund = (await this.#refunds(name)).find(({ status }) => status === 'pending');
    if (!refund) return 'no refund is pending';
    const answers: Record<string, RefundAnswer> = {
      approve: { kind: 'approved', reference: 'r' },
      decline: { kind: 'declined', failureCode: 'refund_rejected', bankCode: 'raw' },
      silent: { kind: 'unknown' },
    };
    const answered = answers[answer ?? ''] ?? assert.fail(`no answer ${answer}`);
    return this.#seenRefund(
      name,
      await applyRefundAnswer(this.#migrated.database, refund, answered, this.#now),
    );
  }

  async #pass(time: Temporal.Duration): Promise<void> {
    const { database } = this.#migrated;
    this.#now = this.#now.add(time);
    await receiveCallbacks(database, this.#banks, this.#now);
    await expirePayments(database, this.#banks, () => this.#now);
    await endHolds(database, this.#banks, () => this.#now);
    const page = { publicUrl: 'https://pay.example', pageSecret: Buffer.alloc(32) };
    const ordering = { database, banks: this.#banks, ...page };
    for (const key of await paymentAsks.dueByTurns(database.pool, null, this.#now, 100))
      await askOrOrder(ordering, key, this.#now);
    for (const key of await refundAsks.dueByTurns(database.pool, null, this.#now, 100))
      await sendRefund(database, this.#banks, key, this.#now);
  }

  #press(name: string, banks: Banks): Promise<Payment | Refusal> {
    return openSession(this.#migrated.database, banks, noPolicies, {
      key: this.#idOf(name),
      card,
      pageUrl,
      now: this.#now,
    });
  }

  /** The buyer presses Pay, and the process that serves them goes no further than this. */
  async #die(name: string, moment: 'lost' | 'unheard'): Promise<string> {
    const { simulator } = this.#banks;
    const openDying: Bank['openSession'] = async (order) => {
      if (moment === 'unheard') await simulator.openSession(order);
      throw new Error('killed');
    };
    const dying = { ...simulator, openSession: openDying };
    const banks = {
      ...this.#banks,
      simulator: dying,
      candidates: async () => [dying] as const,
      bankOf: () => dying,
    };
    await assert.rejects(this.#press(name, banks), /killed/);
    return this.#seen(await this.#stored(name));
  }

  #bankAnswers(name: string, [answer, code]: readonly string[]): Promise<Payment | Refusal> {
    const { database } = this.#migrated;
    if (answer === 'asked') return askBank(database, this.#banks, this.#idOf(name), this.#now);
    const answered: Record<string, BankAnswer> = {
      approve: { kind: 'approved', reference: 'r', rrn: null, traits },
      hold: {
        kind: 'authorized',
        captureBefore: this.#now.add({ hours: 168 }),
        reference: 'r',
        rrn: null,
        traits,
      },
      decline: {
        kind: 'declined',
        failureCode: code && isFailureCode(code) ? code : 'do_not_honor',
        bankCode: 'raw',
      },
      silent: { kind: 'unknown' },
      unseen: { kind: 'unseen' },
    };
    return applyBankAnswer(
      database,
      this.#idOf(name),
      'bank',
      answered[answer ?? ''] ?? assert.fail(`no answer ${answer}`),
      this.#now,
    );
  }

  /** Does one step; gives what is seen of it. */
  async step(verb: string, name: string, rest: readonly string[]): Promise<string> {
    switch (verb) {
      case 'create':
        return this.#create(name, rest);
      case 'choose':
        return this.#seen(await this.#choose(name, rest[0]));
      case 'session':
        return this.#seen(await this.#press(name, this.#banks));
      case 'lost':
      case 'unheard':
        return this.#die(name, verb);
      case 'order':
        return orderState(await this.#stored(name)) ?? 'none';
      case 'bank':
        return this.#seen(await this.#bankAnswers(name, rest));
      case 'cancel':
        return this.#seen(await this.#cancel(name));
      case 'capture':
        return this.#capture(name, rest[0]);
      case 'hold':
        return this.#hold(name);
      case 'after':
        await this.#pass(
          Temporal.Duration.from({
            [rest[0] === 's' ? 'seconds' : 'minutes']: Number(money(name)),
          }),
        );
        return '';
      case 'status':
        return this.#seen(await this.#stored(name));
      case 'expire':
        return this.#seen(await this.#expire(name));
      case 'late':
        return this.#late(name);
      case 'alerts':
        return seenAlerts(this.#migrated, this.#key);
      case 'refund':
        return this.#refund(name, rest);
      case 'answer':
        return this.#bankAnswersRefund(name, rest[0]);
      case 'refunds':
        return (await this.#refunds(name)).map(writtenRefund).join(', ');
      case 'balance':
        return seenBalance(this.#migrated, this.#key, 'balance');
      case 'available':
        return seenBalance(this.#migrated, this.#key, 'available');
      case 'ledger':
        return seenLedger(this.#migrated, this.#key);
      case 'webhooks':
        return seenWebhooks(this.#migrated, this.#key);
      default:
        return assert.fail(`no verb ${verb}`);
    }
  }
}

/**
 * Lives a table; fails at the first line whose outcome is another. Returns how many lines it lived.
 */
export const live = async (
  migrated: MigratedDatabase,
  key: KeyPrincipal,
  table: string,
): Promise<number> => {
  const life = new Life(migrated, key);
  const lines = table.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [step = '', expected] = line
      .split('->')
      .map((part) => part.trim().replaceAll(/\s+/g, ' '));
    const [verb = '', name = '', ...rest] = step.split(' ');
    const seen = await life.step(verb, name, rest);
    if (expected !== undefined) assert.equal(seen, expected, line.trim());
  }
  return lines.length;
};
