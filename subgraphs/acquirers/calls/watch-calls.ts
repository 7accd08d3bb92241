/**
 * Acquirers whose calls are observed: as spans and in the metrics, counted by operation and method,
 * and recorded by their operation. What is kept of an order and of an answer is listed here, one by
 * one: never a card, a recipient or a saved method.
 */
import { bankCalls } from '../../platform/tracing/telemetry.ts';
import { spanned } from '../../platform/tracing/tracing.ts';
import { methodsOf, type BankOperation, type RouteMethod } from '../../rules/banks.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Bank } from '../bank.ts';
import type { CallRecorder } from './count-calls.ts';

/** The calls that go to the bank, and what they are about. */
const operations = {
  openSession: 'payment',
  ask: 'payment',
  cancelOrder: 'payment',
  settleHold: 'payment',
  receipt: 'payment',
  refund: 'refund',
  charge: 'recurrent',
  pay: 'payout',
  askPayout: 'payout',
  checkRecipient: 'payout',
  listSbpBanks: 'payout',
} as const satisfies Partial<Record<keyof Bank, BankOperation>>;

/** Calls without the id of an operation, under which they would be recorded. */
const unrecorded: ReadonlySet<string> = new Set(['receipt', 'checkRecipient', 'listSbpBanks']);

/** What every recorded order and question names. */
interface Order {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
  readonly amount?: bigint;
  readonly currency?: string;
}

const methods: ReadonlySet<unknown> = new Set(Object.values(methodsOf).flat());
const isMethod = (value: unknown): value is RouteMethod => methods.has(value);

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;

const textIn = (value: unknown, name: string): string | null => {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : null;
};

/** The kind of an answer; null: the call threw. */
const kindOf = (answer: unknown): string =>
  answer === null ? 'threw' : (textIn(answer, 'kind') ?? 'answered');

/**
 * Whether the bank answered. An order that it rejected because of one merchant's account, or that
 * had no account, does not count against the bank: no merchant can make it look unhealthy.
 */
const isAnswer = (answer: unknown): boolean => {
  const kind = kindOf(answer);
  if (kind === 'unaccepted') return textIn(fieldOf(answer, 'otherwise'), 'kind') === 'declined';
  return kind !== 'unknown' && kind !== 'threw';
};

/** The recorded part of an answer. */
const recordedOf = (answer: unknown) => {
  const meant = fieldOf(answer, 'otherwise') ?? answer;
  return {
    answer: kindOf(answer),
    reference: textIn(meant, 'reference'),
    failureCode: textIn(meant, 'failureCode'),
    bankCode: textIn(meant, 'bankCode'),
  };
};

type Called = (...given: readonly unknown[]) => Promise<unknown>;

/** The bank, each of its calls observed when it has ended. */
export const watchedBank = <Some extends Bank>(
  bank: Some,
  mode: Mode,
  { count, note }: Pick<CallRecorder, 'count' | 'note'>,
): Some => {
  const { connector } = bank;
  const watched = Object.entries(operations).flatMap(([name, operation]) => {
    const call: unknown = Reflect.get(bank, name);
    if (typeof call !== 'function') return [];
    // The port's calls differ in what they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const values = { 'psp.connector': connector };
    const traced: Called = (...given) =>
      spanned({ kind: 'client', name: `bank ${name}`, values }, async (span) => {
        const answer = await plain(...given);
        span?.note({ 'psp.bank_answer': kindOf(answer) });
        return answer;
      });
    const observed: Called = async (...given) => {
      const since_ms = performance.now();
      let answer: unknown = null;
      try {
        answer = await traced(...given);
        return answer;
      } finally {
        const duration_ms = performance.now() - since_ms;
        bankCalls.observe({ connector, call: name, answer: kindOf(answer) }, duration_ms / 1_000);
        const named = fieldOf(given[0], 'method');
        const method = isMethod(named) ? named : '';
        count({ connector, mode, operation, method, answered: isAnswer(answer), duration_ms });
        if (!unrecorded.has(name)) {
          const { merchantId, operationId, amount, currency, now } = given[0] as Order;
          note({
            merchantId,
            subjectId: operationId,
            connector,
            call: name,
            amount: amount ?? null,
            currency: currency ?? null,
            ...recordedOf(answer),
            duration_ms: Math.round(duration_ms),
            createdAt: now,
          });
        }
      }
    };
    return [[name, observed] as const];
  });
  return { ...bank, ...Object.fromEntries(watched) };
};
