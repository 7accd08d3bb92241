/**
 * Calls to acquirers as spans and in the metrics. Both omit requests and answers, which may hold a
 * card.
 */
import { bankCalls } from '../service/tracing/telemetry.ts';
import { spanned } from '../service/tracing/tracing.ts';
import type { Bank } from './bank.ts';

/** The calls of the port that go to the acquirer. */
const calls = [
  'openSession',
  'ask',
  'cancelOrder',
  'refund',
  'settleHold',
  'receipt',
  'charge',
  'pay',
  'askPayout',
  'checkRecipient',
  'listSbpBanks',
] as const satisfies readonly (keyof Bank)[];

type Called = (...given: readonly unknown[]) => Promise<unknown>;

const kindOf = (answer: unknown): string =>
  typeof answer === 'object' &&
  answer !== null &&
  'kind' in answer &&
  typeof answer.kind === 'string'
    ? answer.kind
    : 'answered';

/**
 * The bank with its calls measured: the duration of each, and the kind of its answer (approved,
 * declined, unknown).
 */
export const watchedBank = <Some extends Bank>(bank: Some): Some => {
  const { connector } = bank;
  const watched = calls.flatMap((name) => {
    const call = bank[name];
    if (typeof call !== 'function') return [];
    // The port's calls differ in what they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const timed: Called = async (...given) => {
      const end = bankCalls.startTimer({ connector, call: name });
      let answered = 'threw';
      try {
        const answer = await plain(...given);
        answered = kindOf(answer);
        return answer;
      } finally {
        end({ answer: answered });
      }
    };
    const start = {
      kind: 'client',
      name: `bank ${name}`,
      values: { 'psp.connector': connector },
    } as const;
    const traced: Called = (...given) =>
      spanned(start, async (span) => {
        const answer = await timed(...given);
        span?.note({ 'psp.bank_answer': kindOf(answer) });
        return answer;
      });
    return [[name, traced] as const];
  });
  return { ...bank, ...Object.fromEntries(watched) };
};
