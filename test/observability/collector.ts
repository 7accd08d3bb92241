/** A collector of traces: a real HTTP server that takes OTLP in JSON, as the service sends it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** What part of the service it came from. */
  readonly role: string;
  readonly values: ReadonlyMap<string, unknown>;
  readonly links: readonly string[];
}

interface Attribute {
  readonly key: string;
  readonly value: object;
}

const valuesOf = (attributes: readonly Attribute[] = []): ReadonlyMap<string, unknown> =>
  new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const spansOf = (post: any): CollectedSpan[] =>
  post.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        role: String(valuesOf(resource.attributes).get('psp.role')),
        values: valuesOf(span.attributes),
        links: (span.links ?? []).map((link: any) => link.traceId),
      })),
    ),
  );

/** Starts it. `raw` is everything that was posted, as text. */
export const startCollector = async () => {
  const posts: string[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    paths.add(`${request.method} ${request.url}`);
    const take = async (): Promise<void> => {
      posts.push(await text(request));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    // A service that is killed breaks off its post.
    take().catch(() => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    raw: () => posts.join('\n'),
    spans: (): CollectedSpan[] => posts.flatMap((post) => spansOf(JSON.parse(post))),
    close: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
export type Collector = Awaited<ReturnType<typeof startCollector>>;
