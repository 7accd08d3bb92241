/**
 * GraphiQL for browsers that open `/graphql`. Every file is served from here: no CDN, nothing
 * inline.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';

const page = (version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Payment service · GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/graphql/graphiql/style.css?v=${version}">
</head>
<body class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root" style="height:100vh"></div>
<script src="/graphql/graphiql/graphiql.js?v=${version}"></script>
<script type="module" src="/graphql/graphiql/start-graphiql.js?v=${version}"></script>
</body>
</html>
`;

/** The editor adds styles at run time; scripts and workers come from files alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Asset {
  readonly type: string;
  readonly gzipped: Buffer;
}

interface Bundle {
  readonly page: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

const compress = promisify(gzip);

/**
 * The package contains its files as texts, nine megabytes in all. They are loaded when the page is
 * first opened, and kept compressed.
 */
const readBundle = async (): Promise<Bundle> => {
  const { css, editorWorkerService, graphqlWorker, js, jsonWorker } =
    await import('@graphql-yoga/render-graphiql/graphiql');
  const start = await readFile(join(import.meta.dirname, 'browser/start-graphiql.js'), 'utf8');
  const script = 'text/javascript; charset=utf-8';
  const texts = [
    ['graphiql.js', script, js],
    ['start-graphiql.js', script, start],
    ['style.css', 'text/css; charset=utf-8', css],
    ['editor-worker.js', script, editorWorkerService],
    ['json-worker.js', script, jsonWorker],
    ['graphql-worker.js', script, graphqlWorker],
  ] as const;
  const version = createHash('sha256').update(js).update(start).digest('hex').slice(0, 12);
  const assets = await Promise.all(
    texts.map(
      async ([name, type, text]) => [name, { type, gzipped: await compress(text) }] as const,
    ),
  );
  return { page: page(version), assets: new Map(assets) };
};

/**
 * Serves the page's files below `/graphql/graphiql/`, and returns the function that sends the page.
 */
export const serveGraphiql = (
  app: FastifyInstance,
): ((reply: FastifyReply) => Promise<FastifyReply>) => {
  const bundle = lazily(readBundle);

  app.get<{ Params: { name: string } }>('/graphql/graphiql/:name', async (request, reply) => {
    const asset = (await bundle()).assets.get(request.params.name);
    if (!asset) return reply.callNotFound();
    reply.headers({
      'content-type': asset.type,
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    return reply.send(asset.gzipped);
  });

  return async (reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .send((await bundle()).page);
};
