/**
 * The load generator, from outside: a process of its own (load-process.ts) that is given what to
 * send.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What is sent, over how many connections, and until when. */
export interface LoadPlan {
  readonly url: string;
  /** Whole requests, head and body; each connection goes round them. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** No new request is sent after this; those on their way are waited for. */
  readonly duration_ms: number;
  /** No more requests than this, all connections together. */
  readonly requests_max: number;
  /**
   * How many are sent a second, evenly, all connections together; a connection that is late catches
   * up. Without it each answer is followed by the next request.
   */
  readonly perSecond_max?: number;
}

export interface LoadResult {
  readonly answered: number;
  readonly elapsed_ms: number;
  readonly p50_us: number;
  readonly p99_us: number;
  /** The median of each of the plan's requests; empty where there are more than a few of them. */
  readonly each_us: readonly number[];
}

/** What the process answers: a result, or why there is none. */
export type LoadAnswer = LoadResult | { readonly failure: string };

export interface Load extends AsyncDisposable {
  /** Runs one plan to its end. Throws when a connection breaks or an answer is not 2xx. */
  run(plan: LoadPlan): Promise<LoadResult>;
}

/** Starts the load generator. */
export const openLoad = (): Load => {
  const child = fork(join(import.meta.dirname, 'load-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
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
