/**
 * Serves the console as `console/build.ts` has built it: one page for every address, under a policy
 * without anything inline, and its files, whose names hold their digests.
 */
import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorJson } from '../../schema/wire.ts';
import { prepareAnswer, sendAnswer, type FixedAnswer } from '../fixed-answer.ts';

const built = join(import.meta.dirname, '../../console/dist');

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
};

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    // The widgets add one sheet of their own, which names the page's nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

interface Program {
  /** The page, with a place for the nonce. */
  readonly page: string;
  readonly files: ReadonlyMap<string, FixedAnswer>;
}

/** Reads what was built; null when nothing was. */
const readProgram = async (): Promise<Program | null> => {
  const page = await readFile(join(built, 'index.html'), 'utf8').catch(() => null);
  if (page === null) return null;
  const names = await readdir(join(built, 'assets'));
  const files = await Promise.all(
    names.map(async (name) => {
      const answer = await prepareAnswer(await readFile(join(built, 'assets', name)), {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'cache-control': 'public, max-age=31536000, immutable',
      });
      return [name, answer] as const;
    }),
  );
  return { page, files: new Map(files) };
};

const sendPage = (reply: FastifyReply, { page }: Program): FastifyReply => {
  const nonce = randomBytes(18).toString('base64');
  return reply
    .headers({
      'cache-control': 'no-store',
      'content-security-policy': policy(nonce),
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'x-robots-tag': 'noindex, nofollow',
    })
    .type('text/html; charset=utf-8')
    .send(page.replace('{{nonce}}', nonce));
};

/** Whether the request is for a screen of the console: any address of it but those of programs. */
const isScreen = (path: string): boolean =>
  !/^(assets|enter|exports|login|links|session)(\/|$)/.test(path) && extname(path) === '';

const sendNothing = (reply: FastifyReply): FastifyReply =>
  reply.code(404).send(errorJson('not_found', 'there is nothing at this address'));

/** Adds the console's page and files below `/console/`. */
export const serveProgram = (app: FastifyInstance): void => {
  let reading: Promise<Program | null> | null = null;
  const program = (): Promise<Program | null> => (reading ??= readProgram());
  app.get('/console', (_request, reply) => reply.redirect('/console/', 303));
  app.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const file = (await program())?.files.get(request.params.name);
    return file ? sendAnswer(request, reply, file) : sendNothing(reply);
  });
  const screen = async (
    request: FastifyRequest<{ Params: { '*'?: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    if (!isScreen(request.params['*'] ?? '')) return sendNothing(reply);
    const found = await program();
    if (found) return sendPage(reply, found);
    reading = null;
    return reply
      .code(503)
      .send(errorJson('unavailable', 'the console is not built: npm start builds it'));
  };
  app.get('/console/', screen);
  app.get('/console/*', screen);
};
