/**
 * The load generator: a process of its own that is given what to send. It writes whole requests and
 * only counts the bytes of the answers: a full HTTP client costs as much as a bare server, and on a
 * machine with few cores it would be what is measured.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { median } from './rounds.ts';

/** What is sent, over how many connections, and until when. */
export interface LoadPlan {
  readonly url: string;
  /** Whole requests, head and body; each connection goes round them. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** No new request is sent after this; those on their way are waited for. */
  readonly duration_ms: number;
}

export interface LoadResult {
  readonly answered: number;
  readonly elapsed_ms: number;
  readonly p50_us: number;
}

/** What the process answers: a result, or why there is none. */
type LoadAnswer = LoadResult | { readonly failure: string };

export interface Load extends AsyncDisposable {
  /** Runs one plan to its end. Throws when a connection breaks or an answer is not 2xx. */
  run(plan: LoadPlan): Promise<LoadResult>;
}

/** Starts the load generator. */
export const openLoad = (): Load => {
  const child = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(() => [{ failure: 'the load generator has ended' }]);
  return {
    run: async (plan) => {
      child.send(plan);
      // Messages over the channel are of our own making on both sides.
      const [answer] = (await Promise.race([once(child, 'message'), ended])) as [LoadAnswer];
      if ('failure' in answer) throw new Error(`${plan.url}: ${answer.failure}`);
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};

/** One request as it goes over the wire. */
export const requestText = (
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string => {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host: '127.0.0.1',
    ...headers,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
};

const headEnd = Buffer.from('\r\n\r\n');

/**
 * The whole length of the answer that begins here; null while its head is not complete. Refuses
 * what is not 2xx with a length.
 */
const answerLength = (bytes: Buffer): number | null => {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (!head.startsWith('HTTP/1.1 2') || length === undefined)
    throw new Error(`an unexpected answer: ${bytes.toString('utf8', 0, 1_000)}`);
  return end + headEnd.length + Number(length);
};

/** Sends one request after another over one connection until the plan is done. */
const runConnection = (
  plan: LoadPlan,
  first: number,
  until_ms: number,
  latencies_us: number[],
): Promise<void> => {
  const { hostname, port } = new URL(plan.url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname).setNoDelay();
  let next = first;
  let sentAt_ms = 0;
  let pending: Buffer = Buffer.alloc(0);
  const send = (): void => {
    const now_ms = performance.now();
    if (now_ms >= until_ms) {
      socket.end();
      return;
    }
    sentAt_ms = now_ms;
    socket.write(plan.requests[next % plan.requests.length] ?? '');
    next += 1;
  };
  socket.on('connect', send);
  socket.on('data', (bytes: Buffer) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    try {
      const length = answerLength(pending);
      if (length === null || pending.length < length) return;
      if (pending.length > length) throw new Error('more came than was asked for');
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    latencies_us.push((performance.now() - sentAt_ms) * 1_000);
    pending = Buffer.alloc(0);
    sentAt_ms = 0;
    send();
  });
  socket.on('error', reject);
  socket.on('close', () =>
    sentAt_ms === 0
      ? resolve()
      : reject(new Error('the server closed the connection before it answered')),
  );
  return promise;
};

const run = async (plan: LoadPlan): Promise<LoadResult> => {
  const latencies_us: number[] = [];
  const began_ms = performance.now();
  const connections = Array.from({ length: plan.connections }, (_, index) => {
    const first = Math.floor((index * plan.requests.length) / plan.connections);
    return runConnection(plan, first, began_ms + plan.duration_ms, latencies_us);
  });
  await Promise.all(connections);
  return {
    answered: latencies_us.length,
    elapsed_ms: performance.now() - began_ms,
    p50_us: median(latencies_us),
  };
};

const notify = (answer: LoadAnswer): void => void process.send?.(answer);

if (import.meta.main) {
  process.on('message', (plan: LoadPlan) => {
    run(plan).then(notify, (error: unknown) =>
      notify({ failure: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.once('disconnect', () => process.exit(0));
}
