/**
 * A bank whose calls are counted by operation and method. It reads only their outcome: nothing of
 * an order or an answer is stored.
 */
import type { Mode } from '../../rules/mode.ts';
import { methodsOf, type BankOperation, type RouteMethod } from '../../rules/banks.ts';
import type { Bank } from '../bank.ts';
import type { CallCounter } from './count-calls.ts';

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

const methods: ReadonlySet<unknown> = new Set(Object.values(methodsOf).flat());
const isMethod = (value: unknown): value is RouteMethod => methods.has(value);

const textIn = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;

/**
 * Whether the bank answered. An order that it rejected because of one merchant's account, or that
 * had no account, does not count against the bank: no merchant can make it look unhealthy.
 */
const isAnswer = (answer: unknown): boolean => {
  const kind = textIn(answer, 'kind');
  if (kind === 'unaccepted') return textIn(textIn(answer, 'otherwise'), 'kind') === 'declined';
  return kind !== 'unknown';
};

type Called = (...given: readonly unknown[]) => Promise<unknown>;

/** The bank, each of its calls counted when it has ended. */
export const countedBank = <Some extends Bank>(
  bank: Some,
  mode: Mode,
  { count }: Pick<CallCounter, 'count'>,
): Some => {
  const { connector } = bank;
  const calls = Object.entries(operations).flatMap(([name, operation]) => {
    const call: unknown = Reflect.get(bank, name);
    if (typeof call !== 'function') return [];
    // The port's calls differ in what they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const counted: Called = async (...given) => {
      const since_ms = performance.now();
      let answered = false;
      try {
        const answer = await plain(...given);
        answered = isAnswer(answer);
        return answer;
      } finally {
        const method = textIn(given[0], 'method');
        const duration_ms = performance.now() - since_ms;
        const named = isMethod(method) ? method : '';
        count({ connector, mode, operation, method: named, answered, duration_ms });
      }
    };
    return [[name, counted] as const];
  });
  return { ...bank, ...Object.fromEntries(calls) };
};
