/**
 * Answers that are the same until the next version: made once, compressed once, and not sent again
 * to a client that has them. RFC 9110, 8.8.3 (entity tags) and 13.1.2 (If-None-Match).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { lazily } from '../subgraphs/platform/graph/lazily.ts';

/** A text in one coding, with the entity tag of that. */
interface Coded {
  readonly coding: 'br' | 'gzip' | null;
  readonly tag: string;
  readonly bytes: Buffer;
}

export interface FixedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly plain: Coded;
  /** What is shorter, the shortest first. */
  readonly compressed: readonly Coded[];
}

const compress = promisify(gzip);
const shorten = promisify(brotliCompress);

/**
 * Prepares a text. `headers` are sent with every response, including Content-Type and, in `vary`,
 * what selects the text in addition to its coding. `brotli` is the text under Brotli, which takes
 * too long for a service that starts.
 */
export const prepareAnswer = async (
  text: string | Buffer,
  headers: Readonly<Record<string, string>>,
  brotli: Buffer | null = null,
): Promise<FixedAnswer> => {
  const bytes = Buffer.from(text);
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const coded = (coding: Coded['coding'], sent: Buffer): Coded => ({
    coding,
    tag: `"${digest}${coding === null ? '' : `-${coding}`}"`,
    bytes: sent,
  });
  const compressed = [coded('br', brotli ?? bytes), coded('gzip', await compress(bytes))];
  return {
    headers: {
      ...headers,
      vary: ['accept-encoding', headers['vary']].filter(Boolean).join(', '),
    },
    plain: coded(null, bytes),
    compressed: compressed.filter((one) => one.bytes.length < bytes.length),
  };
};

const takes = (request: FastifyRequest, coding: Coded['coding']): boolean =>
  new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:\\s*,|\\s*$))`).test(
    request.headers['accept-encoding'] ?? '',
  );

/**
 * Whether the client names the tag, or takes whatever there is. Weak tags count: nothing is
 * compared byte by byte.
 */
const holds = (request: FastifyRequest, tag: string): boolean =>
  (request.headers['if-none-match'] ?? '')
    .split(',')
    .map((sent) => sent.trim().replace(/^W\//, ''))
    .some((sent) => sent === tag || sent === '*');

/** Sends a prepared text, or 304 to a client that has it already. */
export const sendAnswer = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: FixedAnswer,
): FastifyReply => {
  const { coding, tag, bytes } =
    answer.compressed.find((coded) => takes(request, coded.coding)) ?? answer.plain;
  reply.headers(answer.headers).header('etag', tag);
  if (holds(request, tag)) return reply.code(304).send();
  if (coding !== null) reply.header('content-encoding', coding);
  return reply.send(bytes);
};

/** Adds an address, with and without the slash at its end, made at the first look. */
export const serveMade = (
  app: FastifyInstance,
  path: string,
  make: () => Promise<FixedAnswer>,
): void => {
  const made = lazily(make);
  const addresses = path.endsWith('/') ? [path, path.slice(0, -1)] : [path];
  for (const address of addresses)
    app.get(address, async (request, reply) => sendAnswer(request, reply, await made()));
};

/** The path of a file of this folder, or the name of one that is made of several. */
export type ServedFile = string | readonly [name: string, ...paths: readonly string[]];

export const readFile = (file: ServedFile) => {
  const [name, ...paths] = typeof file === 'string' ? [basename(file), file] : file;
  const parts = paths.map((path) => readFileSync(join(import.meta.dirname, path)));
  return { name, bytes: Buffer.concat(parts) };
};

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

/** What a file is served with. */
export const fileHeaders = (name: string, cacheControl: string) => ({
  'content-type': types[extname(name)] ?? 'application/octet-stream',
  'cache-control': cacheControl,
});

/**
 * Serves files below an address. `brotli` is for files that browsers keep: it takes longer, and
 * they are shorter.
 */
export const serveFiles = (
  app: FastifyInstance,
  below: string,
  files: readonly ServedFile[],
  cacheControl: string,
  brotli = false,
): void => {
  for (const { name, bytes } of files.map(readFile))
    serveMade(app, `${below}${name}`, async () =>
      prepareAnswer(bytes, fileHeaders(name, cacheControl), brotli ? await shorten(bytes) : null),
    );
};
