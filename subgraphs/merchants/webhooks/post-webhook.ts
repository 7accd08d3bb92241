/**
 * One POST to a receiver. The status decides success; the body of the response is kept only for the
 * merchant to read.
 */
import type { Dispatcher } from 'undici';
import { webhookAnswerKept_max_chars, webhookAnswerRead_max_bytes } from './rules.ts';
import { errorCode } from '../../platform/tracing/error-code.ts';
import { faultOf, type WebhookFault } from './webhook-target.ts';

/** The receiver's answer, or why there is none. */
export interface Answer {
  /** HTTP status; null when none came in time. */
  readonly status: number | null;
  /** Null when the answer was read to its end, or to the limit. */
  readonly error: string | null;
  /** The kind of the error. */
  readonly fault: WebhookFault | null;
  /** The beginning of the answer's body. */
  readonly head: string | null;
  readonly duration_ms: number;
}

const answered = { error: null, fault: null } as const;

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For connecting, headers and body together, in milliseconds. */
  readonly deadline_ms: number;
}

/**
 * Sends it. Never throws: failures are in the answer's `error`. A status that arrived in time
 * counts, whatever happens to the body.
 */
export const postWebhook = (targets: Dispatcher, post: Post): Promise<Answer> =>
  new Promise((resolve) => {
    const exchange = new Exchange(post.deadline_ms, resolve);
    try {
      const { origin, pathname, search } = new URL(post.url);
      targets.dispatch(
        {
          origin,
          path: `${pathname}${search}`,
          method: 'POST',
          headers: post.headers,
          body: post.body,
        },
        exchange,
      );
    } catch (error) {
      exchange.fail(error);
    }
  });

/** One request and its answer, through undici's callbacks: a short body needs no stream. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #started_ms = performance.now();
  readonly #deadline_ms: number;
  readonly #resolve: (answer: Answer) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #read_bytes = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #status: number | null = null;
  #isOver = false;

  constructor(deadline_ms: number, resolve: (answer: Answer) => void) {
    this.#deadline_ms = deadline_ms;
    this.#resolve = resolve;
    this.#timer = setTimeout(
      () => this.#drop(new DOMException('the deadline is over', 'TimeoutError')),
      deadline_ms,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The connection came too late: a silent receiver can delay it for long.
    if (this.#isOver) controller.abort(new Error('the deadline is over'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // A status below 200 is only informational.
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#read_bytes += chunk.length;
    if (this.#read_bytes < webhookAnswerRead_max_bytes || this.#isOver) return;
    this.#end(answered);
    this.#controller?.abort(new Error('enough has been read'));
  }

  onResponseEnd(): void {
    this.#end(answered);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends it with what went wrong. */
  fail(error: unknown): void {
    this.#end({ error: inWords(error, this.#deadline_ms), fault: faultOf(error) });
  }

  #drop(reason: Error): void {
    this.fail(reason);
    this.#controller?.abort(reason);
  }

  #end(failure: Pick<Answer, 'error' | 'fault'>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const head = failure.error === null ? keptOf(this.#chunks) : null;
    this.#resolve({
      status: this.#status,
      ...failure,
      head,
      duration_ms: Math.round(performance.now() - this.#started_ms),
    });
  }
}

/** The stored part of a body. PostgreSQL's text cannot hold a zero. */
const keptOf = (chunks: readonly Buffer[]): string =>
  chunks.length === 0
    ? ''
    : Buffer.concat(chunks)
        .toString('utf8')
        .replaceAll('\0', '')
        .slice(0, webhookAnswerKept_max_chars);

const inWords = (error: unknown, deadline_ms: number): string => {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `no complete answer within ${deadline_ms} ms`;
  const code = errorCode(error);
  return `${code && `${code}: `}${error.message || error.name}`.slice(0, 300);
};
