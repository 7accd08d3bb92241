/**
 * Answers that are the same until the next version: made once, compressed once, and not sent again
 * to a client that has them. RFC 9110, 8.8.3 (entity tags) and 13.1.2 (If-None-Match).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { lazily } from '../subgraphs/platform/graph/lazily.ts';

/** One text in each coding that it is sent in; a coding has an entity tag of its own. */
export interface FixedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly plain: { readonly tag: string; readonly bytes: Buffer };
  /** Null where compression gains nothing. */
  readonly gzipped: { readonly tag: string; readonly bytes: Buffer } | null;
  /** Null where no build made it: Brotli takes too long for a service that starts. */
  readonly brotli: { readonly tag: string; readonly bytes: Buffer } | null;
}

const compress = promisify(gzip);

/**
 * Prepares a text. `headers` are sent with every response, including Content-Type and, in `vary`,
 * what selects the text in addition to its coding.
 */
export const prepareAnswer = async (
  text: string | Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<FixedAnswer> => {
  const bytes = Buffer.from(text);
  const gzipped = await compress(bytes);
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return {
    headers: {
      ...headers,
      vary: ['accept-encoding', headers['vary']].filter(Boolean).join(', '),
    },
    plain: { tag: `"${digest}"`, bytes },
    gzipped: gzipped.length < bytes.length ? { tag: `"${digest}-gzip"`, bytes: gzipped } : null,
    brotli: null,
  };
};

/** The answer with what a build has compressed of it. */
export const withBrotli = (answer: FixedAnswer, bytes: Buffer): FixedAnswer => ({
  ...answer,
  brotli: { tag: answer.plain.tag.replace(/"$/, '-br"'), bytes },
});

const takes = (request: FastifyRequest, coding: 'br' | 'gzip'): boolean =>
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
  const { brotli, gzipped, plain } = answer;
  const [coded, coding] =
    brotli && takes(request, 'br')
      ? [brotli, 'br']
      : gzipped && takes(request, 'gzip')
        ? [gzipped, 'gzip']
        : [plain, null];
  const { tag, bytes } = coded;
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

/** A file by its name, the files of this folder that it is made of, and its type. */
type ServedFile = readonly [name: string, paths: readonly string[], type: string];

/** Serves files below an address; each is read at the first look. */
export const serveFiles = (
  app: FastifyInstance,
  below: string,
  files: readonly ServedFile[],
  cacheControl: string,
): void => {
  for (const [name, paths, type] of files)
    serveMade(app, `${below}${name}`, () =>
      prepareAnswer(
        Buffer.concat(paths.map((path) => readFileSync(join(import.meta.dirname, path)))),
        { 'content-type': type, 'cache-control': cacheControl },
      ),
    );
};
