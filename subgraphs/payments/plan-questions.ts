/**
 * Questions to banks at a known moment: whoever expects an answer has the sweep run then. What this
 * process loses, the sweep finds by itself within a second.
 */
import type { Queues } from '../kernel/queue/queues.ts';
import type { Logger } from '../kernel/service/tracing/telemetry.ts';
import { askBanksJob } from './jobs.ts';
import type { PaymentsParts } from './parts.ts';
import { sendRefundJob } from './refunds/jobs.ts';

/** The questions of so long are asked together. */
const together_ms = 100;
/** Nobody waits at a page for an answer that comes later than this: the sweep is soon enough. */
const prompt_max_ms = 60_000;

interface QuestionParts {
  readonly queues: Pick<Queues, 'add' | 'addMany'>;
  readonly log: Logger;
}

/** The plans of one process. */
export const openQuestions = ({
  queues,
  log,
}: QuestionParts): Pick<PaymentsParts, 'askLater' | 'sendRefundLater'> => {
  const warn = (error: unknown): void =>
    log.warn({ error }, 'asking the bank was not enqueued; the sweep asks');
  const planned = new Set<number>();
  return {
    askLater: (delay_ms) => {
      const at = Math.ceil((performance.now() + delay_ms) / together_ms) * together_ms;
      if (delay_ms > prompt_max_ms || planned.has(at)) return;
      planned.add(at);
      const ask = (): void => {
        planned.delete(at);
        queues.addMany(askBanksJob, [{}]).catch(warn);
      };
      setTimeout(ask, at - performance.now()).unref();
    },
    sendRefundLater: ({ merchantId, refundId }, delay_ms) =>
      void queues.add(sendRefundJob, { merchantId, refundId }, { delay_ms }).catch(warn),
  };
};
