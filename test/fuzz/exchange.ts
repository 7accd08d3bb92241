/** One request with exactly these bytes, and what came back, as it came. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { patience_ms } from '../support/eventually.ts';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | null;
}

export interface Came {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for a stream, which has no end. */
  readonly text: string;
}

/** Gives the way to send requests to this address over kept connections; `close` ends them. */
export const openExchange = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const exchange = ({ method, path, headers, body }: Sent): Promise<Came> => {
    const { promise, resolve, reject } = Promise.withResolvers<Came>();
    const framing = body === null ? {} : { 'content-length': String(body.length) };
    const { hostname, port } = new URL(url);
    const sent = httpRequest({
      hostname,
      port,
      path,
      method,
      agent,
      headers: { ...framing, ...headers },
      timeout: patience_ms,
    });
    sent.on('timeout', () =>
      sent.destroy(new Error(`${method} ${path} was not answered within ${patience_ms} ms`)),
    );
    sent.on('error', reject).on('response', (response) => {
      const came = { status: response.statusCode ?? 0, headers: response.headers };
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        response.destroy();
        return resolve({ ...came, text: '' });
      }
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => resolve({ ...came, text }));
    });
    sent.end(body ?? undefined);
    return promise;
  };
  return { exchange, close: () => agent.destroy() };
};
