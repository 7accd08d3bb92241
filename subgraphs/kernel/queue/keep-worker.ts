/**
 * A queue that stays worked. Once, after the loss of a Redis Cluster's node, a worker's connection
 * neither failed nor brought jobs again, and nothing in BullMQ or ioredis noticed: whoever gets no
 * answer although the store answers others is replaced.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../service/tracing/telemetry.ts';
import { closeWorker, type PatientWorker } from './work.ts';

export interface KeptWorkerOptions {
  /** Opens a worker on connections of its own; rejects when it does not get them. */
  readonly open: () => Promise<PatientWorker>;
  /** Rejects when the store does not answer. */
  readonly ask: () => Promise<void>;
  readonly log: Logger;
  /** How long a worker that has room for a job may be without an answer of its store. */
  readonly silence_max_ms?: number;
}

export interface KeptWorker {
  /** As `closeWorker`. */
  close(deadline: Promise<unknown>): Promise<boolean>;
}

/** Six times what an idle worker may wait for a job before it asks again. */
const silenceDefault_ms = 60_000;
const looksEach = 6;

/**
 * Opens a worker, and another in its place when it has fallen silent. What the silent one still ran
 * is run again by others when its lock runs out. Rejects when the first does not open.
 */
export const keepWorker = async ({
  open,
  ask,
  log,
  silence_max_ms = silenceDefault_ms,
}: KeptWorkerOptions): Promise<KeptWorker> => {
  let worker = await open();
  let looking = false;
  let closing = false;
  const answers = (): Promise<boolean> =>
    Promise.race([
      ask().then(
        () => true,
        () => false,
      ),
      delay(silence_max_ms / looksEach, false, { ref: false }),
    ]);
  const replace = async (silent: PatientWorker): Promise<void> => {
    log.error(
      { queue: silent.name, silent_ms: silent.silentFor_ms() },
      'a worker gets no answer although its store answers; another takes its place',
    );
    const next = await open();
    if (closing) return next.close(true);
    worker = next;
    await silent.close(true);
  };
  const look = async (): Promise<void> => {
    if (looking || worker.silentFor_ms() < silence_max_ms) return;
    looking = true;
    try {
      // The answer took its time.
      if ((await answers()) && !closing && worker.silentFor_ms() >= silence_max_ms)
        await replace(worker);
    } catch (error) {
      log.warn(
        { queue: worker.name, err: error },
        'a silent worker could not be replaced or closed',
      );
    } finally {
      looking = false;
    }
  };
  const watching = setInterval(() => void look(), silence_max_ms / looksEach).unref();
  return {
    close: (deadline) => {
      closing = true;
      clearInterval(watching);
      return closeWorker(worker, deadline);
    },
  };
};
