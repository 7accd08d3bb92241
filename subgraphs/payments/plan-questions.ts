/**
 * Bank queries at a known moment are not queued; the caller runs the sweep then. If this process
 * dies, the sweep finds them within a second.
 */
import type { Queues } from '../platform/queue/queues.ts';
import type { Logger } from '../platform/tracing/telemetry.ts';
import { askBanksJob } from './jobs.ts';
import type { PaymentsDeps } from './parts.ts';
import { sendRefundJob } from './refunds/jobs.ts';

/** The questions of so long are asked together. */
const together_ms = 100;
/** No buyer waits at the page for an answer later than this: the sweep is soon enough. */
const prompt_max_ms = 60_000;

interface QuestionDeps {
  readonly queues: Pick<Queues, 'add' | 'addMany'>;
  readonly log: Logger;
}

/** The plans of one process. */
export const openQuestions = ({
  queues,
  log,
}: QuestionDeps): Pick<PaymentsDeps, 'askLater' | 'askNoMore' | 'sendRefundLater'> => {
  const warn = (error: unknown): void =>
    log.warn({ error }, 'could not enqueue a bank query; the sweep will run it');
  /** The payments of each moment at which something is asked, and the moment of each of them. */
  const planned = new Map<number, Set<string>>();
  const moments = new Map<string, number>();
  const ask = (at: number): void => {
    const asked = planned.get(at) ?? new Set();
    planned.delete(at);
    for (const paymentId of asked) moments.delete(paymentId);
    if (asked.size > 0) queues.addMany(askBanksJob, [{}]).catch(warn);
  };
  const askNoMore = (paymentId: string): void => {
    planned.get(moments.get(paymentId) ?? -1)?.delete(paymentId);
    moments.delete(paymentId);
  };
  return {
    askNoMore,
    askLater: (paymentId, delay_ms) => {
      askNoMore(paymentId);
      const from_ms = performance.now();
      const at = Math.ceil((from_ms + Math.max(0, delay_ms)) / together_ms) * together_ms;
      if (delay_ms > prompt_max_ms) return;
      const others = planned.get(at);
      if (!others) setTimeout(() => ask(at), at - from_ms).unref();
      planned.set(at, (others ?? new Set()).add(paymentId));
      moments.set(paymentId, at);
    },
    sendRefundLater: ({ merchantId, refundId }, delay_ms) =>
      void queues.add(sendRefundJob, { merchantId, refundId }, { delay_ms }).catch(warn),
  };
};
