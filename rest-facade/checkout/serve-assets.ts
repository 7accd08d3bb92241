/**
 * The page's style, browser modules and fonts, under an address that holds a digest of their
 * content, so that browsers keep them for a year and a new version is a new address.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { errorJson } from '../../schema/wire.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { readFile, serveFiles, type ServedFile } from '../fixed-answer.ts';

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
const paths = (names: readonly string[]): readonly string[] =>
  names.map((name) => `checkout/browser/${name}`);
/** What every page loads that is drawn with base.css; Onest is cut to its letters (fonts/OFL.txt). */
export const lookFiles = paths([
  'icon.svg',
  'fonts/onest-latin.woff2',
  'fonts/onest-cyrillic.woff2',
  'fonts/onest-currency.woff2',
]);
const files: readonly ServedFile[] = [
  ['page.css', ...paths(styleParts)],
  ...paths([...moduleNames, ...linkModuleNames]),
  ...lookFiles,
];

/** The digest of all files. Throws when one is missing: no page works without it. */
const version = lazily(() => {
  const digest = createHash('sha256');
  for (const { name, bytes } of files.map(readFile)) digest.update(name).update(bytes);
  return digest.digest('hex').slice(0, 16);
});

export const assetAddress = (name: string): string => `/pay/assets/${version()}/${name}`;

/**
 * Serves the assets. Another version's address gets today's content uncached: during a rollout it
 * is better than none.
 */
export const serveAssets = (app: FastifyInstance): void => {
  serveFiles(app, `/assets/${version()}/`, files, 'public, max-age=31536000, immutable', true);
  serveFiles(app, '/assets/:version/', files, 'no-store', true);
  app.get('/assets/:version/:name', (_request, reply) =>
    reply.code(404).send(errorJson('not_found', 'there is no such file')),
  );
};
