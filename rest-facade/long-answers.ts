/**
 * Answers that are longer than a page: their parts are read one after the other, by keyset, while
 * they are sent. No connection to the database and no transaction is held meanwhile, and a reader
 * that is slow has two parts of its answer in memory.
 */
import type { ServerResponse } from 'node:http';
import { openNamedQuota } from '../gateway/callers/limits.ts';
import { rateLimited, type Refusal } from './refusal-http.ts';

/**
 * Answers of more than one part that a merchant has on their way at the same time, in this process.
 */
export const longAnswers_max = 16;
/** Seconds after which one of them may have ended. */
const retryAfter_s = 5;

/** What is read next, by the cursor of the part before it. */
type ReadBehind<Part> = (cursor: string) => Promise<Part | Refusal>;

/**
 * Yields the first part and the following ones, each read while the previous one is sent. Throws if
 * a part is refused: it is too late for an error envelope, so the connection breaks, and the answer
 * is not mistaken for a complete one.
 */
export const walkPages = async function* <Part extends object>(
  first: Part,
  cursorOf: (part: Part) => string | null,
  readBehind: ReadBehind<Part>,
): AsyncGenerator<Part, void, undefined> {
  const next = (part: Part): Promise<Part | Refusal> | null => {
    const behind = cursorOf(part);
    const reading = behind === null ? null : readBehind(behind);
    // Awaited below; a client may hang up meanwhile, and then it is not awaited.
    reading?.catch(() => {});
    return reading;
  };
  let cursor = cursorOf(first);
  let coming = next(first);
  yield first;
  while (coming) {
    const part: Part | Refusal = await coming;
    if (isRefusal(part)) throw new Error(`an answer broke off: ${part.code}`);
    if (cursorOf(part) !== null && cursorOf(part) === cursor)
      throw new Error('an answer broke off: a page leads to itself');
    cursor = cursorOf(part);
    coming = next(part);
    yield part;
  }
};

const isRefusal = (part: object): part is Refusal => 'code' in part && 'message' in part;

/** Counts the long answers of each merchant. */
export interface LongAnswers {
  /** Takes a place; the returned function releases it. A refusal if the merchant has none left. */
  take(merchantId: string): (() => void) | Refusal;
}

/** Opens the count of one process. */
export const openLongAnswers = (): LongAnswers => {
  const count = openNamedQuota(longAnswers_max);
  return {
    take: (merchantId) =>
      count.take(merchantId) ??
      rateLimited(
        `too many long answers at a time: at most ${longAnswers_max} of a merchant; let one end`,
        retryAfter_s,
      ),
  };
};

/**
 * Calls `act` once when the connection of an answer is closed, by either side. A caller may hang up
 * while the answer is being prepared: the response emits its `close` then, and never again.
 */
export const whenClosed = (response: ServerResponse, act: () => void): void => {
  if (response.closed) queueMicrotask(act);
  else response.once('close', act);
};
