/**
 * The documentation: the guides and pages under `/docs`, the reference, and
 * `/v1/public/openapi.json`. None needs a key, and nothing is loaded from another host.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { serveNotes } from './api-notes/serve-notes.ts';
import { html as markup, markupText } from './checkout/html.ts';
import type { Described } from './described.ts';
import { prepareAnswer, sendAnswer, type FixedAnswer } from './fixed-answer.ts';
import { serveGuides, serveMade, serveOtherPage } from './guides/serve-guides.ts';
import { postmanCollection } from './postman.ts';
import type { Contract } from './read-contract.ts';
import { serveGuide } from './webhook-guide/serve-guide.ts';

const documentPath = '/v1/public/openapi.json';
const cacheControl = 'public, max-age=300';

/**
 * Scripts are files of this service and nothing else: the hosted page is on the same origin. The
 * reference writes styles as it goes.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payment Service Public API</title>
<link rel="icon" href="data:,">
<script src="/docs/js/start-reference.js" defer></script>
<script src="/docs/js/scalar.js" defer></script>
</head>
<body>
<noscript>The reference needs JavaScript. The description is at <a href="${documentPath}">${documentPath}</a>, guides at <a href="/docs/">/docs/</a>, notes on the API at <a href="/docs/notes/">/docs/notes/</a>, how to verify webhooks at <a href="/docs/webhooks/">/docs/webhooks/</a>.</noscript>
<div id="app"></div>
</body>
</html>
`;

/** What changed in the API, by its dates. */
const changesPage = ({ info }: Described): string =>
  markupText(
    markup`<h1>Changelog of the API</h1>
      <p>
        Every answer names its date in <code>X-Api-Version</code>; a request may name the date it was
        written for. Additions come without a new date: ignore fields that you do not know.
      </p>
      ${info['x-changes'].map(
        ({ date, changes }) =>
          markup`<h2 id="${date}">${date}</h2>
            <ul>
              ${changes.map((change) => markup`<li>${change}</li>`)}
            </ul>`,
      )}`,
  );

/** The script of the reference, as its plugin serves it. */
const readReference = async (): Promise<Buffer> => {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const source = fastify();
  await source.register(reference, { routePrefix: '/docs', configuration: { url: documentPath } });
  const { statusCode, rawPayload } = await source.inject('/docs/js/scalar.js');
  if (statusCode !== 200) throw new Error('the reference has no script where it was');
  return rawPayload;
};

const html = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': cacheControl,
  'content-security-policy': contentSecurityPolicy,
};
const script = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': cacheControl };

/** The page and its scripts, by address. */
const prepareReference = async (): Promise<ReadonlyMap<string, FixedAnswer>> => {
  const [shown, start, reference] = await Promise.all([
    prepareAnswer(page, html),
    readFile(join(import.meta.dirname, 'browser/start-reference.js')).then((text) =>
      prepareAnswer(text, script),
    ),
    readReference().then((text) => prepareAnswer(text, script)),
  ]);
  return new Map([
    ['/docs/reference', shown],
    ['/docs/reference/', shown],
    ['/docs/js/start-reference.js', start],
    ['/docs/js/scalar.js', reference],
  ]);
};

const referencePaths = [
  '/docs/reference',
  '/docs/reference/',
  '/docs/js/start-reference.js',
  '/docs/js/scalar.js',
];

/** Adds them. The reference is large and seldom looked at: it is loaded at the first look. */
export const serveDocs = async (
  app: FastifyInstance,
  { document, described }: Contract,
  publicUrl: string,
): Promise<void> => {
  const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': cacheControl };
  // Tools that import the document call the address that serves it.
  const servers = [{ url: publicUrl, description: 'This installation' }];
  const description = await prepareAnswer(JSON.stringify({ ...document, servers }), json);
  // It is one of the routes whose responses have the rate limit headers.
  app.get(documentPath, (request, reply) =>
    sendAnswer(request, reply.headers(app.ownAnswers.headersOf(request.raw)), description),
  );
  await serveGuide(app, cacheControl);
  serveNotes(app, cacheControl);
  serveOtherPage(app, '/docs/changelog/', () => changesPage(described), cacheControl);
  serveMade(app, '/docs/postman.json', () =>
    prepareAnswer(JSON.stringify(postmanCollection(described, publicUrl)), json),
  );
  serveGuides(app, cacheControl);
  let reference: Promise<ReadonlyMap<string, FixedAnswer>> | null = null;
  for (const path of referencePaths) {
    app.get(path, async (request, reply) => {
      reference ??= prepareReference();
      const answer = (await reference).get(path);
      if (!answer) throw new Error(`nothing was prepared for ${path}`);
      return sendAnswer(request, reply, answer);
    });
  }
};
