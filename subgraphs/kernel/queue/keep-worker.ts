/**
 * A queue that stays worked. Once, after the loss of a Redis Cluster's node, a worker's connection neither failed nor brought jobs again, and nothing in BullMQ
 * or ioredis noticed: whoever is silent although the store answers is replaced.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../service/telemetry.ts';
import { closeWorker, type PatientWorker } from './work.ts';

export interface KeptWorkerOptions {
  /** Opens a worker on connections of its own. */
  readonly open: () => PatientWorker;
  /** Rejects when the store does not answer. */
  readonly ask: () => Promise<void>;
  readonly log: Logger;
  /** How long a worker that has room for a job may leave its store alone. */
  readonly silenceMost_ms?: number;
}

export interface KeptWorker {
  /** As `closeWorker`. */
  close(deadline: Promise<unknown>): Promise<boolean>;
}

/** Six times what an idle worker may wait for a job before it asks again. */
const silenceDefault_ms = 60_000;
const looksEach = 6;

/** Opens a worker, and another in its place when it has fallen silent. What the silent one still ran is run again by others when its lock runs out. */
export const keepWorker = ({ open, ask, log, silenceMost_ms = silenceDefault_ms }: KeptWorkerOptions): KeptWorker => {
  let worker = open();
  let closing = false;
  const answers = (): Promise<boolean> =>
    Promise.race([
      ask().then(
        () => true,
        () => false,
      ),
      delay(silenceMost_ms / looksEach, false, { ref: false }),
    ]);
  const look = async (): Promise<void> => {
    const watched = worker;
    if (watched.silentFor_ms() < silenceMost_ms || !(await answers())) return;
    // The answer took its time, and another look may have come first.
    if (closing || worker !== watched || watched.silentFor_ms() < silenceMost_ms) return;
    log.error({ queue: watched.name, silent_ms: watched.silentFor_ms() }, 'a worker asks for no jobs although its store answers; another takes its place');
    worker = open();
    watched.close(true).catch((error: unknown) => log.warn({ queue: watched.name, err: error }, 'the silent worker could not be closed'));
  };
  const looking = setInterval(() => void look(), silenceMost_ms / looksEach).unref();
  return {
    close: (deadline) => {
      closing = true;
      clearInterval(looking);
      return closeWorker(worker, deadline);
    },
  };
};
