/**
 * Answers that are longer than a page: their parts are read one after the other, by keyset, while
 * they are sent. No connection to the database and no transaction is held meanwhile, and a reader
 * that is slow has two parts of its answer in memory. The ledger as a file is such an answer.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openNamedQuota } from '../gateway/callers/limits.ts';
import type { ExportLedgerQuery } from '../schema/generated/operations.ts';
import type { ledgerEntryJson } from '../schema/wire.ts';
import type { Outcome } from './routes/route.ts';
import type { AnyRequest } from './read-request.ts';
import { rateLimited, type Refusal, sendRefusal } from './refusal-http.ts';

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

/** The text of a file behind its `head`, a part at a time. */
export const textOfFile = async function* <Part extends { readonly text: string }>(
  head: string,
  first: Part,
  cursorOf: (part: Part) => string | null,
  readBehind: ReadBehind<Part>,
): AsyncGenerator<string, void, undefined> {
  let before = head;
  for await (const { text } of walkPages(first, cursorOf, readBehind)) {
    yield before + text;
    before = '';
  }
};

const isRefusal = (part: object): part is Refusal => 'code' in part && 'message' in part;

/** Opens the places of long answers: `take` takes one, and gives what releases it. */
export const openLongAnswers = () => {
  const count = openNamedQuota(longAnswers_max);
  return {
    take: (merchantId: string): (() => void) | Refusal =>
      count.take(merchantId) ??
      rateLimited(
        `too many long answers at a time: at most ${longAnswers_max} of a merchant; let one end`,
        retryAfter_s,
      ),
  };
};
export type LongAnswers = ReturnType<typeof openLongAnswers>;

/**
 * Calls `act` once when the connection of an answer is closed, by either side. A caller may hang up
 * while the answer is being prepared: the response emits its `close` then, and never again.
 */
export const whenClosed = (response: ServerResponse, act: () => void): void => {
  if (response.closed) queueMicrotask(act);
  else response.once('close', act);
};

// The ledger as a file. A header row, the JSON's fields in their order, RFC 4180; all rows, unless
// `limit` is given. The database writes the lines (subgraphs/merchants/ledger/read-ledger.ts); here the
// parts are joined, as fast as the client reads and no faster.

type LedgerPart = ExportLedgerQuery['ledgerFile'];
type ReadPart = (asked: AnyRequest) => Promise<Outcome | Refusal>;

const columns = [
  'id',
  'type',
  'amount',
  'currency',
  'description',
  'payment_id',
  'payout_id',
  'created_at',
] as const satisfies readonly (keyof ReturnType<typeof ledgerEntryJson>)[];
const header = `${columns.join(',')}\r\n`;
/** About 300 KB, of which each download has two in memory. */
const rowsPerPart = 2_500;

/** The ledger's row gives a part as an answer's body; anything else is a refusal. */
const partOf = (outcome: Outcome | Refusal): LedgerPart | Refusal => {
  if (outcome === null) throw new Error('the ledger answered nothing');
  return 'code' in outcome ? outcome : (outcome.body as LedgerPart);
};

const cursorOf = ({ pageInfo: { endCursor } }: LedgerPart): string | null => endCursor;

interface FileDeps {
  readonly merchantId: string;
  readonly longAnswers: LongAnswers;
  readonly read: ReadPart;
}

/**
 * Streams the whole filtered set, or one page with `limit`. The first part is read before anything
 * is sent, so that a refusal is an error envelope.
 */
export const sendLedgerCsv = async (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AnyRequest,
  deps: FileDeps,
): Promise<FastifyReply> => {
  const { merchantId, longAnswers, read } = deps;
  const limited =
    typeof request.query === 'object' && request.query !== null && 'limit' in request.query;
  const query = limited ? asked.query : { ...asked.query, limit: rowsPerPart };
  const first = partOf(await read({ ...asked, query }));
  if ('code' in first) return sendRefusal(reply, first);
  reply.headers({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="ledger.csv"',
  });
  // Nothing more is read for a HEAD. A stream, even an empty one, has no length that could be
  // stated.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const last = limited ? { ...first, pageInfo: { endCursor: null } } : first;
  const giveBack = cursorOf(last) === null ? () => {} : longAnswers.take(merchantId);
  if (typeof giveBack !== 'function')
    return sendRefusal(
      reply.removeHeader('content-disposition').type('application/json; charset=utf-8'),
      giveBack,
    );
  whenClosed(reply.raw, giveBack);
  return reply.send(
    Readable.from(
      textOfFile(header, last, cursorOf, async (cursor) =>
        partOf(await read({ ...asked, query: { ...query, cursor } })),
      ),
    ),
  );
};
