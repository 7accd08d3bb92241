/**
 * A list that is answered as a whole (`{items: [...]}`) unless the caller requests a page. The
 * operation is read page by page, and the answer is written meanwhile. A list of one page is an
 * ordinary answer.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyRequest } from './read-request.ts';
import { sendRefusal, type Refusal } from './refusal-http.ts';
import type { Outcome } from './routes.ts';
import { walkPages, type LongAnswers } from './walk-pages.ts';
import { whenClosed } from './when-closed.ts';

/**
 * A page takes a few milliseconds to be read and printed: so long is everybody else's call held up.
 */
const rowsPerPage = 200;

interface Items {
  readonly items: readonly object[];
  readonly next_cursor: string | null;
}

/** Whether a page is requested instead of the whole list. */
export const isOfPage = ({ query }: AnyRequest): boolean =>
  query['limit'] !== undefined || query['cursor'] !== undefined;

/** A list's row gives a page as an answer's body; anything else is a refusal. */
const pageOf = (outcome: Outcome | Refusal): Items | Refusal => {
  if (outcome === null) throw new Error('the list answered nothing');
  return 'code' in outcome ? outcome : (outcome.body as Items);
};

const cursorOf = ({ next_cursor }: Items): string | null => next_cursor;

/** The answer's text, a page at a time. */
const textOf = async function* (
  first: Items,
  readBehind: (cursor: string) => Promise<Items | Refusal>,
): AsyncGenerator<string> {
  yield '{"items":[';
  let between = '';
  for await (const { items } of walkPages(first, cursorOf, readBehind)) {
    if (items.length === 0) continue;
    yield `${between}${JSON.stringify(items).slice(1, -1)}`;
    between = ',';
  }
  yield ']}';
};

export interface ListParts {
  readonly merchantId: string;
  readonly longAnswers: LongAnswers;
  /** Runs the route's operation for one page. */
  readonly read: (asked: AnyRequest) => Promise<Outcome | Refusal>;
}

/**
 * Sends the whole list. The first page is read before anything is sent, so that a refusal is an
 * envelope; a later failure breaks the connection off.
 */
export const sendList = async (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AnyRequest,
  parts: ListParts,
): Promise<FastifyReply> => {
  const { merchantId, longAnswers } = parts;
  const read = async (cursor?: string): Promise<Items | Refusal> =>
    pageOf(
      await parts.read({
        ...asked,
        query: { ...asked.query, limit: rowsPerPage, ...(cursor === undefined ? {} : { cursor }) },
      }),
    );
  const first = await read();
  if ('code' in first) return sendRefusal(reply, first);
  if (first.next_cursor === null) return reply.send({ items: first.items });
  reply.type('application/json; charset=utf-8');
  // A HEAD of a stream reads it to its end.
  if (request.method === 'HEAD') return reply.send('');
  const giveBack = longAnswers.take(merchantId);
  if (typeof giveBack !== 'function') return sendRefusal(reply, giveBack);
  whenClosed(reply.raw, giveBack);
  return reply.send(Readable.from(textOf(first, read), { objectMode: false }));
};
