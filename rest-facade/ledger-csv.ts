/** The ledger as a file. Decision D-78: a header row, the JSON's fields in their order, RFC 4180; all rows, unless `limit` is given. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ledgerEntryJson } from '../schema/wire.ts';
import type { AnyRequest } from './read-request.ts';
import { sendRefusal, type Refusal } from './refusal-http.ts';
import type { Outcome } from './routes.ts';

type Entry = ReturnType<typeof ledgerEntryJson>;
interface Page {
  readonly items: readonly Entry[];
  readonly next_cursor: string | null;
}
type ReadPage = (asked: AnyRequest) => Promise<Outcome | Refusal>;

const columns = ['id', 'type', 'amount', 'currency', 'description', 'payment_id', 'payout_id', 'created_at'] as const satisfies readonly (keyof Entry)[];
/** Contract, "Limits": the largest page. */
const rowsPerPage = 200;

const cell = (value: string | number | null): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const line = (values: readonly (string | number | null)[]): string => `${values.map(cell).join(',')}\r\n`;

const lines = (page: Page): string => page.items.map((entry) => line(columns.map((column) => entry[column]))).join('');

/** The ledger's row gives a page as an answer's body; anything else is a refusal. */
const pageOf = (outcome: Outcome | Refusal): Page | Refusal => {
  if (outcome === null) throw new Error('a registry answered nothing');
  return 'code' in outcome ? outcome : (outcome.body as Page);
};

/** Streams the whole filtered set, or the one page that `limit` asks for. The first page is read before anything is sent, so that a refusal is an envelope. */
export const sendLedgerCsv = async (request: FastifyRequest, reply: FastifyReply, asked: AnyRequest, read: ReadPage): Promise<FastifyReply> => {
  const limited = typeof request.query === 'object' && request.query !== null && 'limit' in request.query;
  const query = limited ? asked.query : { ...asked.query, limit: rowsPerPage };
  const first = pageOf(await read({ ...asked, query }));
  if ('code' in first) return sendRefusal(reply, first);
  const rest = async function* (): AsyncGenerator<string> {
    yield line(columns) + lines(first);
    let cursor = limited ? null : first.next_cursor;
    while (cursor !== null) {
      const page = pageOf(await read({ ...asked, query: { ...query, cursor } }));
      // Too late for an envelope: the connection breaks off, so that a part is not taken for the whole.
      if ('code' in page) throw new Error(`the ledger broke off: ${page.code}`);
      yield lines(page);
      cursor = page.next_cursor;
    }
  };
  reply.headers({ 'content-type': 'text/csv; charset=utf-8; header=present', 'content-disposition': 'attachment; filename="ledger.csv"' });
  return reply.send(Readable.from(rest()));
};
