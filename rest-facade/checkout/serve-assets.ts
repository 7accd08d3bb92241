/**
 * The page's style, browser modules and fonts: read at start, compressed once when a browser first
 * loads them, served under an address that holds a digest of their content, so that browsers keep
 * them for a year and a new version is a new address.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { errorJson } from '../../schema/wire.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { prepareAnswer, sendAnswer, type FixedAnswer } from '../fixed-answer.ts';

const folder = new URL('./browser/', import.meta.url);

/** Style sheets, joined in this order into page.css. */
const styleParts = [
  'base.css',
  'sheet.css',
  'methods.css',
  'outcome.css',
  'receipt.css',
  'terms.css',
  'customer.css',
  'bank.css',
  'asleep.css',
  'narrow.css',
  'print.css',
];
/** Browser modules of the page of a payment link; link.js is the one that it starts. */
const linkModuleNames = ['link.js', 'amount-rules.js'];
/** Browser modules; page.js is the one that the page starts. */
export const moduleNames = ['page.js', 'regions.js', 'follow.js', 'card-form.js', 'card-rules.js'];
/** Fonts: Onest, cut to the letters that the page uses (fonts/OFL.txt). */
const fontNames = ['onest-latin.woff2', 'onest-cyrillic.woff2', 'onest-currency.woff2'];

const age_max_s = 31_536_000;

const compress = promisify(brotliCompress);

const read = (name: string): Buffer => readFileSync(new URL(name, folder));

const make = async (type: string, bytes: Buffer): Promise<FixedAnswer> => {
  const headers = { 'content-type': type, 'x-content-type-options': 'nosniff' };
  return prepareAnswer(bytes, headers, await compress(bytes));
};

/** The assets by name, and their digest. Throws when one is missing: no page works without it. */
const assets = lazily(() => {
  const files = [
    ['page.css', 'text/css; charset=utf-8', Buffer.concat(styleParts.map(read))],
    ['icon.svg', 'image/svg+xml', read('icon.svg')],
    ...[...moduleNames, ...linkModuleNames].map(
      (name) => [name, 'text/javascript; charset=utf-8', read(name)] as const,
    ),
    ...fontNames.map((name) => [name, 'font/woff2', read(`fonts/${name}`)] as const),
  ] as const;
  const digest = createHash('sha256');
  for (const [name, , bytes] of files) digest.update(name).update(bytes);
  const version = digest.digest('hex').slice(0, 16);
  const made = files.map(([name, type, bytes]) => [name, lazily(() => make(type, bytes))] as const);
  return { files: new Map<string, () => Promise<FixedAnswer>>(made), version };
});

export const assetAddress = (name: string): string => `/pay/assets/${assets().version}/${name}`;

/**
 * Serves the assets. Another version's address gets today's content uncached: during a rollout it
 * is better than none.
 */
export const serveAssets = (app: FastifyInstance): void => {
  const { files, version } = assets();
  app.get<{ Params: { version: string; name: string } }>(
    '/assets/:version/:name',
    async (request, reply) => {
      const asset = files.get(request.params.name);
      if (!asset) return reply.code(404).send(errorJson('not_found', 'there is no such file'));
      const isCurrent = request.params.version === version;
      const cacheControl = isCurrent ? `public, max-age=${age_max_s}, immutable` : 'no-store';
      return sendAnswer(request, reply.header('cache-control', cacheControl), await asset());
    },
  );
};
