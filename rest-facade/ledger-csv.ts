/**
 * The ledger as a file. A header row, the JSON's fields in their order, RFC 4180; all rows, unless
 * `limit` is given. The database writes the lines (subgraphs/merchants/ledger/export-ledger.ts);
 * here the parts are joined, as fast as the client reads and no faster: two of them are in memory.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExportLedgerQuery } from '../schema/generated/operations.ts';
import type { ledgerEntryJson } from '../schema/wire.ts';
import type { AnyRequest } from './read-request.ts';
import { sendRefusal, type Refusal } from './refusal-http.ts';
import type { Outcome } from './routes/route.ts';
import { walkPages, type LongAnswers, whenClosed } from './long-answers.ts';

type Part = ExportLedgerQuery['ledgerFile'];
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
const partOf = (outcome: Outcome | Refusal): Part | Refusal => {
  if (outcome === null) throw new Error('the ledger answered nothing');
  return 'code' in outcome ? outcome : (outcome.body as Part);
};

const cursorOf = ({ pageInfo: { endCursor } }: Part): string | null => endCursor;

/** The file's text, a part at a time. */
const textOf = async function* (
  first: Part,
  readBehind: (cursor: string) => Promise<Part | Refusal>,
): AsyncGenerator<string> {
  let before = header;
  for await (const { text } of walkPages(first, cursorOf, readBehind)) {
    yield before + text;
    before = '';
  }
};

interface FileDeps {
  readonly merchantId: string;
  readonly longAnswers: LongAnswers;
  /** Runs the operation for one part. */
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
      textOf(last, async (cursor) => partOf(await read({ ...asked, query: { ...query, cursor } }))),
    ),
  );
};
