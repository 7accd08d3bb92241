/**
 * The frame of the pages beside the reference: written texts without scripts, which load nothing.
 */
import type { FastifyInstance } from 'fastify';
import { prepareAnswer, sendAnswer, type FixedAnswer } from './fixed-answer.ts';

const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const style = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
pre { overflow: auto; padding: 1rem; background: #f4f5f7; border-radius: 6px; font-size: 13px } code { font-family: ui-monospace, monospace }
table { border-collapse: collapse } td, th { border: 1px solid #d5d8dd; padding: .3rem .6rem; text-align: left; vertical-align: top }
code, a { overflow-wrap: anywhere } pre code { overflow-wrap: normal } nav a { margin-right: 1rem }
@media (width < 40rem) { h1 { font-size: 1.5rem } table { font-size: 14px } td, th { padding: .3rem } }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #16181c } pre { background: #22252b } a { color: #8ab4f8 } td, th { border-color: #3a3f47 } }`;

/** Every page of this kind, with what the others call it. */
const pages = [
  { path: '/docs/', name: 'The API' },
  { path: '/docs/notes/', name: 'Notes on the API' },
  { path: '/docs/webhooks/', name: 'Verifying webhooks' },
] as const;
type Page = Exclude<(typeof pages)[number]['path'], '/docs/'>;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text as HTML shows it. */
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>]/g, (character) => escapes[character] ?? character);

/** A code block; it can be reached by the keyboard, since it may have to be scrolled. */
export const codeBlock = (text: string): string =>
  `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;

/** Headers of a page, and of a file that belongs to one. */
export const guideHeaders = (
  cacheControl: string,
  type: 'html' | 'plain',
): Readonly<Record<string, string>> => ({
  'content-security-policy': contentSecurityPolicy,
  'cache-control': cacheControl,
  'content-type': `text/${type}; charset=utf-8`,
});

const makePage = async (path: Page, main: string, cacheControl: string): Promise<FixedAnswer> => {
  const title = pages.find((page) => page.path === path)?.name ?? '';
  const links = pages
    .filter((page) => page.path !== path)
    .map((page) => `<a href="${page.path}">${page.name}</a>`)
    .join('');
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>
<style>${style}</style></head><body><nav>${links}</nav><main>${main}</main></body></html>\n`;
  return prepareAnswer(page, guideHeaders(cacheControl, 'html'));
};

/**
 * Adds a page under its address, with and without the slash at the end. It needs no key, and is
 * made at the first look.
 */
export const serveGuidePage = (
  app: FastifyInstance,
  path: Page,
  main: () => string | Promise<string>,
  cacheControl: string,
): void => {
  let shown: Promise<FixedAnswer> | null = null;
  const make = async (): Promise<FixedAnswer> => makePage(path, await main(), cacheControl);
  for (const address of [path, path.slice(0, -1)])
    app.get(address, async (request, reply) =>
      sendAnswer(request, reply, await (shown ??= make())),
    );
};
