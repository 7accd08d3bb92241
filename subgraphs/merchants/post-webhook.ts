/** One POST to a receiver. Contract "Webhooks": success is decided by the status; the answer's body is only kept for the merchant to read. */
import { request, type Dispatcher } from 'undici';
import { webhookAnswerKept_max_chars, webhookAnswerRead_max_bytes } from './rules/webhook.ts';

/** What a receiver answered, or why there is nothing. */
export interface Answer {
  /** HTTP status; null when none came in time. */
  readonly status: number | null;
  /** Null when the answer was read to its end, or to as much of it as is read. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly head: string | null;
  readonly duration_ms: number;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For connecting, headers and body together, in milliseconds. */
  readonly deadline_ms: number;
}

/** Sends it. Never throws: what went wrong is the answer's `error`. A status that came in time counts, whatever happens to the body after it. */
export const postWebhook = async (targets: Dispatcher, post: Post): Promise<Answer> => {
  const started = performance.now();
  const duration_ms = (): number => Math.round(performance.now() - started);
  let status: number | null = null;
  try {
    const signal = AbortSignal.timeout(post.deadline_ms);
    const { url, headers, body } = post;
    const response = await Promise.race([request(url, { dispatcher: targets, method: 'POST', headers, body, signal }), deadlineOf(signal)]);
    status = response.statusCode;
    const head = await readHead(response.body);
    return { status, error: null, head, duration_ms: duration_ms() };
  } catch (error) {
    return { status, error: inWords(error, post.deadline_ms), head: null, duration_ms: duration_ms() };
  }
};

/** Rejects when the signal is aborted. A request hears of that only once it has its connection, which a silent receiver may never complete. */
const deadlineOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('the deadline is over', 'TimeoutError')), { once: true }));

/** Reads as much as is read and gives what is kept of it. Leaving the loop early drops the connection. */
const readHead = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let read_bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    read_bytes += chunk.length;
    if (read_bytes >= webhookAnswerRead_max_bytes) break;
  }
  // PostgreSQL's text cannot hold a zero.
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '').slice(0, webhookAnswerKept_max_chars);
};

const inWords = (error: unknown, deadline_ms: number): string => {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `no complete answer within ${deadline_ms} ms`;
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code}: ` : '';
  return `${code}${error.message || error.name}`.slice(0, 300);
};
