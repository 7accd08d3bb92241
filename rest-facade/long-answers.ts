/**
 * Answers that are longer than a page: their parts are read one after the other, by keyset, while
 * they are sent. No connection to the database and no transaction is held meanwhile, and a reader
 * that is slow has two parts of its answer in memory. The ledger as a file is such an answer.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NamedQuota } from '../gateway/callers/limits.ts';
import type { ExportLedgerQuery, ListLedgerQuery } from '../schema/generated/operations.ts';
import type { AnyRequest, Outcome } from './routes/route.ts';
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

export interface LongDeps {
  readonly merchantId: string;
  /** How many long answers each merchant has on their way. */
  readonly longAnswers: NamedQuota;
  /** Runs the route's operation for one part. */
  readonly read: (asked: AnyRequest) => Promise<Outcome | Refusal>;
}

/** Reads the parts of an answer, which the row gives as bodies; anything else is a refusal. */
export const partsOf =
  <Part>(asked: AnyRequest, more: { readonly limit?: number }, { read }: LongDeps) =>
  async (cursor?: string): Promise<Part | Refusal> => {
    const query = { ...asked.query, ...more, ...(cursor === undefined ? {} : { cursor }) };
    const outcome = await read({ ...asked, query });
    if (outcome === null) throw new Error('a list answered nothing');
    return 'code' in outcome ? outcome : (outcome.body as Part);
  };

/** Sends a text while its parts are read, in one of the merchant's places. */
export const sendText = (
  reply: FastifyReply,
  text: AsyncIterable<string>,
  { merchantId, longAnswers }: LongDeps,
): FastifyReply => {
  const giveBack = longAnswers.take(merchantId);
  if (!giveBack)
    return sendRefusal(
      reply.removeHeader('content-disposition').type('application/json; charset=utf-8'),
      rateLimited(
        `too many long answers at a time: at most ${longAnswers_max} of a merchant; let one end`,
        retryAfter_s,
      ),
    );
  whenClosed(reply.raw, giveBack);
  return reply.send(Readable.from(text, { objectMode: false }));
};

/**
 * Calls `act` once when the connection of an answer is closed, by either side. A caller may hang up
 * while the answer is being prepared: the response emits its `close` then, and never again.
 */
export const whenClosed = (response: ServerResponse, act: () => void): void => {
  if (response.closed) queueMicrotask(act);
  else response.once('close', act);
};

/** Begins an answer that is written by hand, with the headers that every answer has. */
export const beginAnswer = (
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): ServerResponse => {
  const response = reply.hijack().raw;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  return response.writeHead(200, headers);
};

// The ledger as a file. A header row, the JSON's fields in their order, RFC 4180; all rows, unless
// `limit` is given. The database writes the lines (subgraphs/merchants/ledger/read-ledger.ts); here the
// parts are joined, as fast as the client reads and no faster.

type LedgerPart = ExportLedgerQuery['ledgerFile'];

const columns = [
  'id',
  'type',
  'amount',
  'currency',
  'description',
  'payment_id',
  'payout_id',
  'created_at',
] as const satisfies readonly (keyof ListLedgerQuery['ledger']['nodes'][number])[];
const header = `${columns.join(',')}\r\n`;
/** About 300 KB, of which each download has two in memory. */
const rowsPerPart = 2_500;

const cursorOf = ({ pageInfo: { endCursor } }: LedgerPart): string | null => endCursor;

/**
 * Streams the whole filtered set, or one page with `limit`. The first part is read before anything
 * is sent, so that a refusal is an error envelope.
 */
export const sendLedgerCsv = async (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AnyRequest,
  deps: LongDeps,
): Promise<FastifyReply> => {
  const limited =
    typeof request.query === 'object' && request.query !== null && 'limit' in request.query;
  const read = partsOf<LedgerPart>(asked, limited ? {} : { limit: rowsPerPart }, deps);
  const first = await read();
  if ('code' in first) return sendRefusal(reply, first);
  reply.headers({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="ledger.csv"',
  });
  // Nothing more is read for a HEAD. A stream, even an empty one, has no length that could be
  // stated.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const last = limited ? { ...first, pageInfo: { endCursor: null } } : first;
  const text = textOfFile(header, last, cursorOf, read);
  return cursorOf(last) === null ? reply.send(Readable.from(text)) : sendText(reply, text, deps);
};
