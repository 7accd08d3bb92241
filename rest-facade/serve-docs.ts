/**
 * The documentation: the guides and pages under `/docs`, the reference, and
 * `/v1/public/openapi.json`. None needs a key, and nothing is loaded from another host.
 */
import fastify, { type FastifyInstance } from 'fastify';
import { html as markup, markupText, contentPolicy } from './checkout/html.ts';
import { fileHeaders, prepareAnswer, sendAnswer, serveFiles, serveMade } from './fixed-answer.ts';
import { serveGuides, serveOtherPage } from './guides/serve-guides.ts';
import {
  type Contract,
  type Described,
  examplesOf,
  type DescribedOperation,
} from './read-contract.ts';
import { serveVerifiers } from './guides/snippets.ts';

/* `/docs/postman.json`: the API as a Postman collection (format 2.1), made of its description. */

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** A body as Postman shows and sends it. */
const rawBody = (value: unknown) => ({
  mode: 'raw',
  raw: JSON.stringify(value, null, 2),
  options: { raw: { language: 'json' } },
});

const exampleText = (example: unknown): string =>
  example === undefined || typeof example === 'string' ? (example ?? '') : JSON.stringify(example);

const requestOf = (path: string, method: string, operation: DescribedOperation) => {
  const { parameters, requestBody, description = '' } = operation;
  const of = (place: string) => parameters.filter((one) => one.in === place);
  const shown = (place: string, more: object = {}) =>
    of(place).map(({ name, example, description: about }) => ({
      key: name,
      value: exampleText(example),
      description: about,
      ...more,
    }));
  const segments = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/');
  const [body] = examplesOf(requestBody?.content ?? {});
  return {
    method: method.toUpperCase(),
    description,
    header: [
      ...(body ? [{ key: 'Content-Type', value: 'application/json' }] : []),
      ...of('header').map(({ name, description: about }) => ({
        key: name,
        value: name === 'Idempotency-Key' ? '{{$guid}}' : '',
        description: about,
        disabled: name !== 'Idempotency-Key',
      })),
    ],
    url: {
      raw: `{{base_url}}/${segments.join('/')}`,
      host: ['{{base_url}}'],
      path: segments,
      variable: shown('path'),
      // Optional parameters are off until you enable them.
      query: shown('query', { disabled: true }),
    },
    ...(body && { body: rawBody(body.value) }),
  };
};

const itemOf = (path: string, method: string, operation: DescribedOperation) => {
  const request = requestOf(path, method, operation);
  const response = Object.entries(operation.responses).flatMap(([status, answer]) =>
    examplesOf(answer.content ?? {})
      .slice(0, 1)
      .map(({ type, value }) => ({
        name: `${status} ${answer.description}`,
        originalRequest: request,
        code: Number(status),
        header: [{ key: 'Content-Type', value: type }],
        body: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
      })),
  );
  return { name: operation.summary, request, response };
};

/** The collection: a folder for each tag. The key is a variable, so an export does not contain it. */
const postmanCollection = ({ info, paths, tags }: Described, publicUrl: string) => ({
  info: { name: info.title, description: info.description, version: info.version, schema },
  auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
  variable: [
    { key: 'base_url', value: publicUrl },
    { key: 'api_key', value: '' },
  ],
  item: tags
    .map(({ name, description }) => ({
      name,
      description,
      item: Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([, operation]) => operation.tags.includes(name))
          .map(([method, operation]) => itemOf(path, method, operation)),
      ),
    }))
    .filter(({ item }) => item.length > 0),
});

const documentPath = '/v1/public/openapi.json';
const cacheControl = 'public, max-age=300';

/**
 * Scripts are files of this service and nothing else: the hosted page is on the same origin. The
 * reference writes styles as it goes.
 */
const contentSecurityPolicy = contentPolicy({
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
});

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
<noscript>The reference needs JavaScript. The description is at <a href="${documentPath}">${documentPath}</a>, guides at <a href="/docs/">/docs/</a>.</noscript>
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
  serveVerifiers(app, cacheControl);
  serveOtherPage(app, '/docs/changelog/', () => changesPage(described), cacheControl);
  serveMade(app, '/docs/postman.json', () =>
    prepareAnswer(JSON.stringify(postmanCollection(described, publicUrl)), json),
  );
  serveGuides(app, cacheControl);
  serveMade(app, '/docs/reference/', () => prepareAnswer(page, html));
  serveFiles(app, '/docs/js/', ['browser/start-reference.js'], cacheControl);
  serveMade(app, '/docs/js/scalar.js', async () =>
    prepareAnswer(await readReference(), fileHeaders('scalar.js', cacheControl)),
  );
};
