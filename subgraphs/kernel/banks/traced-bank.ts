/** Calls to acquirers as spans. What is sent and what comes back stays out of them: it may hold a card. */
import { spanned, tracing } from '../service/tracing.ts';
import type { Bank } from './bank.ts';

/** The calls of the port that go to the acquirer. */
const calls = ['openSession', 'ask', 'refund', 'charge', 'pay', 'askPayout', 'checkRecipient', 'listSbpBanks'] as const satisfies readonly (keyof Bank)[];

type Called = (...given: readonly unknown[]) => Promise<unknown>;

const kindOf = (answer: unknown): string =>
  typeof answer === 'object' && answer !== null && 'kind' in answer && typeof answer.kind === 'string' ? answer.kind : 'answered';

/** The bank, its calls in spans while this process traces; else the bank itself. An answer's kind is noted: approved, declined, unknown. */
export const tracedBank = <Some extends Bank>(bank: Some): Some => {
  if (!tracing()) return bank;
  const inSpans = calls.flatMap((name) => {
    const call = bank[name];
    if (typeof call !== 'function') return [];
    // The port's calls differ in what they take; here it is only passed on.
    const plain = call.bind(bank) as Called;
    const traced: Called = (...given) =>
      spanned({ kind: 'client', name: `bank ${name}`, values: { 'psp.connector': bank.connector } }, async (span) => {
        const answer = await plain(...given);
        span?.note({ 'psp.bank_answer': kindOf(answer) });
        return answer;
      });
    return [[name, traced] as const];
  });
  return { ...bank, ...Object.fromEntries(inSpans) };
};
