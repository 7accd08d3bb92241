/**
 * Traces: what one call did, through every part of the service. The other parts know only this file
 * of tracing; it imports no package. Without an endpoint nothing is opened, and this code costs a
 * comparison.
 * Spans hold names from the program's own text, ids, numbers and statuses: never a caller's text,
 * never an error's message. Inside a process the current span follows the call; between ours it
 * travels as `traceparent` (W3C Trace Context). It is not sent to merchants' receivers or to
 * acquirers.
 */

export type SpanKind = 'server' | 'internal' | 'client' | 'producer' | 'consumer';

export type SpanValues = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly kind: SpanKind;
  /** One of few: without ids. */
  readonly name: string;
  readonly values?: SpanValues;
}

/** Where a span belongs. */
interface SpanPlace {
  /** The parent span, here or, by its `traceparent`, elsewhere; null: it begins a trace. */
  readonly below: Span | string | null;
  /** Another span that it has to do with, as its `traceparent`; what is none is left out. */
  readonly beside?: string | undefined;
}

export interface Span {
  readonly traceId: string;
  /** How the span is named to other processes. */
  readonly traceparent: string;
  /** Whether it is sampled. */
  readonly isKept: boolean;
  note(values: SpanValues): void;
  /** Marks it as failed; `why` is the program's own word, such as an error's class or code. */
  fail(why: string): void;
  /** Ends it; one call is enough. */
  end(): void;
}

export interface Tracing {
  begin(start: SpanStart, place: SpanPlace): Span;
  /** Runs `work` with the span as the current one, for all that it begins. */
  within<Result>(span: Span, work: () => Result): Result;
  current(): Span | null;
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

let open: Tracing | null = null;

/** Traces from now on by `tracing`, or stops: one for a process, set before it serves. */
export const traceBy = (tracing: Tracing | null): void => void (open = tracing);

/** What traces this process; null when nothing does. */
export const tracing = (): Tracing | null => open;

/** The span that the call is in; null outside of a trace. */
export const currentSpan = (): Span | null => open?.current() ?? null;

const carried = async <Result>(
  by: Tracing,
  span: Span,
  work: (span: Span) => Promise<Result>,
): Promise<Result> => {
  try {
    return await by.within(span, () => work(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'thrown');
    throw error;
  } finally {
    span.end();
  }
};

/**
 * Runs `work` in a child of the current span; outside of a sampled trace, just runs it. A rejection
 * marks the span as failed.
 */
export const spanned = <Result>(
  start: SpanStart,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> => {
  const above = open?.current();
  return open && above?.isKept
    ? carried(open, open.begin(start, { below: above }), work)
    : work(null);
};

/**
 * Runs `work` in a span of the trace that a `traceparent` names: that of a payment, whatever
 * queries it now. The previously current span is linked to it. Without a `traceparent`, or when it
 * is the current trace anyway, this is `spanned`.
 */
export const continued = <Result>(
  traceparent: string | null | undefined,
  start: SpanStart,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> => {
  const now = open?.current();
  if (!open || !traceparent || (now && traceparent.includes(now.traceId)))
    return spanned(start, work);
  return carried(open, open.begin(start, { below: traceparent, beside: now?.traceparent }), work);
};
