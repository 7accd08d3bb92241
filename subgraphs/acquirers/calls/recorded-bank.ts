/**
 * A bank whose calls leave a row each. The recorded fields of an order and of an answer are listed
 * here, one by one: never a card, a recipient or a saved method.
 */
import type { Bank } from '../bank.ts';
import type { CallRecorder } from './record-calls.ts';

/** The calls that are about an operation. */
const recorded = [
  'openSession',
  'ask',
  'cancelOrder',
  'refund',
  'settleHold',
  'charge',
  'pay',
  'askPayout',
] as const satisfies readonly (keyof Bank)[];

/** What every order and question names. */
interface Order {
  readonly merchantId: string;
  readonly operationId: string;
  readonly now: Temporal.Instant;
  readonly amount?: bigint;
  readonly currency?: string;
}

type Called = (order: Order, ...rest: readonly unknown[]) => Promise<object>;

const textIn = (answer: object, name: string): string | null => {
  const value: unknown = Reflect.get(answer, name);
  return typeof value === 'string' ? value : null;
};

/** The recorded part of an answer; null: the call threw. */
const answerOf = (answer: object | null) => {
  if (!answer) return { answer: 'threw', reference: null, failureCode: null, bankCode: null };
  const otherwise: unknown = Reflect.get(answer, 'otherwise');
  const meant = typeof otherwise === 'object' && otherwise !== null ? otherwise : answer;
  return {
    answer: textIn(answer, 'kind') ?? 'answered',
    reference: textIn(meant, 'reference') ?? textIn(meant, 'bankRef'),
    failureCode: textIn(meant, 'failureCode'),
    bankCode: textIn(meant, 'bankCode'),
  };
};

/** The bank, each of its calls about an operation noted when it has ended. */
export const recordedBank = <Some extends Bank>(bank: Some, { note }: CallRecorder): Some => {
  const { connector } = bank;
  const calls = recorded.flatMap((name) => {
    const call = bank[name];
    if (typeof call !== 'function') return [];
    // The port's calls differ in what else they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const noted: Called = async (order, ...rest) => {
      const since_ms = performance.now();
      let answer: object | null = null;
      try {
        answer = await plain(order, ...rest);
        return answer;
      } finally {
        note({
          merchantId: order.merchantId,
          subjectId: order.operationId,
          connector,
          call: name,
          amount: order.amount ?? null,
          currency: order.currency ?? null,
          ...answerOf(answer),
          duration_ms: Math.round(performance.now() - since_ms),
          createdAt: order.now,
        });
      }
    };
    return [[name, noted] as const];
  });
  return { ...bank, ...Object.fromEntries(calls) };
};
