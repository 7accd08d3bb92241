/** The contract for people and programs: `/docs`, its page about webhooks, and `/v1/public/openapi.json`. None needs a key, and nothing is loaded from elsewhere. */
import fastify, { type FastifyInstance } from 'fastify';
import type { Contract } from './read-contract.ts';
import { serveGuide } from './webhook-guide/serve-guide.ts';

const documentPath = '/v1/public/openapi.json';
const pagePath = '/docs/';
const scriptPath = '/docs/js/scalar.js';
const cacheControl = 'public, max-age=300';

/** The page's own scripts and styles are inline and beside it; it asks this service alone. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** The page names its script from `/docs/`; it is served without the last slash too. */
const withWholePath = (page: Buffer): Buffer => {
  const html = page.toString();
  if (!html.includes('src="js/scalar.js"')) throw new Error('the page of the reference has no script where it was');
  return Buffer.from(html.replace('src="js/scalar.js"', `src="${scriptPath}"`));
};

/** The page and its script, as the reference's plugin serves them. */
const loadReference = async (): Promise<ReadonlyMap<string, Asset>> => {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const source = fastify();
  await source.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: documentPath,
      pageTitle: 'Payment Service Public API',
      // Nothing from elsewhere: no fonts, no counting, no assistant, no proxy between the page and this service.
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
      persistAuth: false,
      favicon: 'data:,',
    },
  });
  const assets = await Promise.all(
    [pagePath, scriptPath].map(async (url) => {
      const { statusCode, headers, rawPayload } = await source.inject(url);
      if (statusCode !== 200) throw new Error(`the reference has nothing at ${url}`);
      return [url, { type: String(headers['content-type']), body: url === pagePath ? withWholePath(rawPayload) : rawPayload }] as const;
    }),
  );
  return new Map(assets);
};

/** Adds them. The reference is large and seldom looked at: it is loaded at the first look. */
export const serveDocs = (app: FastifyInstance, { document }: Contract): void => {
  const text = JSON.stringify(document);
  let assets: Promise<ReadonlyMap<string, Asset>> | null = null;
  app.get(documentPath, (_request, reply) => reply.header('cache-control', cacheControl).type('application/json; charset=utf-8').send(text));
  serveGuide(app, cacheControl);
  for (const [path, url] of [
    ['/docs', pagePath],
    [pagePath, pagePath],
    [scriptPath, scriptPath],
  ] as const) {
    app.get(path, async (_request, reply) => {
      assets ??= loadReference();
      const asset = (await assets).get(url);
      return reply.headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': cacheControl, 'content-type': asset?.type }).send(asset?.body);
    });
  }
};
