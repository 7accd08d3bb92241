/**
 * The trace of a payment, refund or payout: that of the call that made it, stored in its own row.
 * So it includes the bank's answer, background queries and the webhook, whichever process handles
 * them, whenever, and even if a queue is lost. Where traces are not stored, nothing is written and
 * nothing read.
 */
import {
  continued,
  currentSpan,
  tracing,
  type Span,
  type SpanStart,
} from '../tracing/telemetry.ts';
import { SubjectTraceEntity } from './entities.ts';
import { emOn } from './orm-connections.ts';
import type { Runner } from './statement.ts';

interface TracedSubject {
  readonly merchantId: string;
  readonly subjectId: string;
}

/**
 * Stores the current trace as the subject's, if it is sampled. The first one stays. Call it before
 * the subject can be seen: a worker may take it at once.
 */
export const rememberTrace = async (
  runner: Runner,
  { merchantId, subjectId }: TracedSubject,
): Promise<void> => {
  const span = currentSpan();
  if (!span?.isKept) return;
  const trace = {
    merchantId,
    subjectId,
    traceparent: span.traceparent,
    createdAt: Temporal.Now.instant(),
  };
  const insert = emOn(runner).createQueryBuilder(SubjectTraceEntity).insert(trace);
  await insert.onConflict().ignore().execute();
};

/** Runs `work` in a span of the subject's own trace; without one, in the current trace. */
export const inTraceOf = async <Result>(
  runner: Runner,
  { merchantId, subjectId }: TracedSubject,
  start: SpanStart,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> => {
  if (!tracing()) return work(null);
  // A failed trace lookup must not stop the work.
  const trace = await emOn(runner)
    .findOne(SubjectTraceEntity, { merchantId, subjectId })
    .catch(() => null);
  return continued(trace?.traceparent ?? null, start, work);
};
