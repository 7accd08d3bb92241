/**
 * The load generator's own process. It writes whole requests and only counts the bytes of the
 * answers: a full HTTP client costs as much as a bare server, and on a machine with few cores it
 * would be that which is measured.
 */
import { connect } from 'node:net';
import type { LoadAnswer, LoadPlan, LoadResult } from './load.ts';

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

interface Tally {
  readonly latencies_us: number[];
  /** The same, by request. */
  readonly each_us: readonly number[][];
  sent: number;
}

/** So many kinds of request are counted apart. */
const kinds_max = 10;

/** Sends one request after another over one connection until the plan is done. */
const runConnection = (
  plan: LoadPlan,
  first: number,
  until_ms: number,
  tally: Tally,
): Promise<void> => {
  const { hostname, port } = new URL(plan.url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname).setNoDelay();
  const interval_ms =
    plan.perSecond_max === undefined ? 0 : (plan.connections * 1_000) / plan.perSecond_max;
  let next = first;
  let sentAt_ms = 0;
  let dueAt_ms = performance.now() + interval_ms * Math.random();
  let pending: Buffer = Buffer.alloc(0);
  const send = (): void => {
    const now_ms = performance.now();
    if (now_ms >= until_ms || tally.sent >= plan.requests_max) {
      socket.end();
      return;
    }
    if (interval_ms > 0 && dueAt_ms > now_ms) {
      setTimeout(send, Math.min(dueAt_ms, until_ms) - now_ms);
      return;
    }
    dueAt_ms += interval_ms;
    tally.sent += 1;
    sentAt_ms = performance.now();
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
    const took_us = (performance.now() - sentAt_ms) * 1_000;
    tally.latencies_us.push(took_us);
    tally.each_us[(next - 1) % plan.requests.length]?.push(took_us);
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
  const kinds = plan.requests.length <= kinds_max ? plan.requests.length : 0;
  const tally: Tally = {
    latencies_us: [],
    each_us: Array.from({ length: kinds }, () => []),
    sent: 0,
  };
  const began_ms = performance.now();
  const connections = Array.from({ length: plan.connections }, (_, index) =>
    runConnection(
      plan,
      Math.floor((index * plan.requests.length) / plan.connections),
      began_ms + plan.duration_ms,
      tally,
    ),
  );
  await Promise.all(connections);
  const elapsed_ms = performance.now() - began_ms;
  const quantile = (values: readonly number[], share: number): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
  const { latencies_us, each_us } = tally;
  return {
    answered: latencies_us.length,
    elapsed_ms,
    p50_us: quantile(latencies_us, 0.5),
    p99_us: quantile(latencies_us, 0.99),
    each_us: each_us.map((taken) => quantile(taken, 0.5)),
  };
};

const notify = (answer: LoadAnswer): void => void process.send?.(answer);

process.on('message', (plan: LoadPlan) => {
  run(plan).then(notify, (error: unknown) =>
    notify({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));
