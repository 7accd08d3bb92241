/** Servers in processes of their own, so that each is measured as it would run. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

export interface ChildServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/**
 * Starts one of the programs in servers/ and waits until it listens. Throws when it ends before
 * that.
 */
export const startServer = async (
  program: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ChildServer> => {
  const child = fork(join(import.meta.dirname, 'servers', program), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [answered] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  if (typeof answered !== 'string' || child.pid === undefined)
    throw new Error(`${program} has ended before it listened`);
  return {
    url: answered,
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};

/**
 * Inside such a program: listens, and reports its address to its parent; ends when they
 * are gone.
 */
export const serve = async (app: FastifyInstance): Promise<void> => {
  process.once('disconnect', () => process.exit(0));
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
};

/** Bytes that a process holds. */
export interface Held {
  /** Resident. */
  readonly rss: number;
  /** Objects and buffers that are alive. */
  readonly used: number;
}

const settle_ms = 500;

/**
 * Inside such a program, which runs with --expose-gc: on `memory`, it reports what it holds when
 * all that can be has been freed; on `happen`, it lets an event happen and reports it.
 */
export const answerQuestions = (happen: () => Promise<void>): void => {
  const look = (): void => {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({ rss, used: heapUsed + external } satisfies Held);
  };
  process.on('message', (asked) => {
    if (asked === 'happen') void happen().then(() => process.send?.('happened'));
    if (asked !== 'memory') return;
    globalThis.gc?.();
    setTimeout(look, settle_ms);
  });
};
