/**
 * The page's style, browser modules and fonts: read at start, compressed once when a browser first
 * loads them, served under an address that holds a digest of their content, so that browsers keep
 * them for a year and a new version is a new address.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { errorJson } from '../../schema/wire.ts';

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

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;
type Coding = keyof typeof compressors;
const codings = ['br', 'gzip'] as const satisfies readonly Coding[];

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** Null where compression gains nothing. */
  readonly compressed: ((coding: Coding) => Promise<Buffer>) | null;
}

/** The assets by name, and the address prefix that holds their digest. */
export interface Assets {
  readonly files: ReadonlyMap<string, Asset>;
  readonly version: string;
  readonly address: (name: string) => string;
}

const read = (name: string): Buffer => readFileSync(new URL(name, folder));

const text = (type: string, plain: Buffer): Asset => {
  const made = new Map<Coding, Promise<Buffer>>();
  return {
    type,
    plain,
    compressed: (coding) => {
      const bytes = made.get(coding) ?? compressors[coding](plain);
      made.set(coding, bytes);
      return bytes;
    },
  };
};

/** Reads the assets. Throws when one is missing: the page would not work without it. */
export const readAssets = (): Assets => {
  const files = new Map<string, Asset>([
    ['page.css', text('text/css; charset=utf-8', Buffer.concat(styleParts.map(read)))],
    ['icon.svg', text('image/svg+xml', read('icon.svg'))],
    ...[...moduleNames, ...linkModuleNames].map(
      (name) => [name, text('text/javascript; charset=utf-8', read(name))] as const,
    ),
    ...fontNames.map(
      (name) =>
        [name, { type: 'font/woff2', plain: read(`fonts/${name}`), compressed: null }] as const,
    ),
  ]);
  const digest = createHash('sha256');
  for (const [name, { plain }] of files) digest.update(name).update(plain);
  const version = digest.digest('hex').slice(0, 16);
  return { files, version, address: (name) => `/pay/assets/${version}/${name}` };
};

/**
 * Serves the assets. Another version's address gets today's content uncached: during a rollout it
 * is better than none.
 */
export const serveAssets = (app: FastifyInstance, assets: Assets): void => {
  app.get<{ Params: { version: string; name: string } }>(
    '/assets/:version/:name',
    async (request, reply) => {
      const asset = assets.files.get(request.params.name);
      if (!asset) return reply.code(404).send(errorJson('not_found', 'there is no such file'));
      const accepted = request.headers['accept-encoding'] ?? '';
      const { compressed } = asset;
      const coding =
        compressed && codings.find((name) => new RegExp(`\\b${name}\\b`).test(accepted));
      if (coding) void reply.header('content-encoding', coding);
      return reply
        .header(
          'cache-control',
          request.params.version === assets.version
            ? `public, max-age=${age_max_s}, immutable`
            : 'no-store',
        )
        .header('vary', 'accept-encoding')
        .header('x-content-type-options', 'nosniff')
        .type(asset.type)
        .send(compressed && coding ? await compressed(coding) : asset.plain);
    },
  );
};
