/** What the two stores that BullMQ can run on have in common. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BackendFactory, IQueueBackend, Queue } from 'bullmq';

/** Ids that a job needs to find its row. */
export type JobPayload = Readonly<Record<string, string>>;

/** One of BullMQ's queues, on either store. */
export type StoredQueue = Queue<JobPayload, void, string, JobPayload, void, string, IQueueBackend>;

/** An open store of queues. */
export interface Backend {
  /**
   * Makes BullMQ's own view of the store for one of its queues or workers. Whatever connection
   * BullMQ's options name is ignored.
   */
  readonly factory: BackendFactory;
  /** Rejects when the store does not answer. */
  ask(): Promise<void>;
  /** Ends every connection, also those that BullMQ made and did not end. */
  close(): Promise<void>;
}

/** How long a store that is starting at the same time as we are may take. */
export const startPatience_ms = 30_000;

const readyPause_ms = 250;

/**
 * Opens a queue or a worker on a store that answered before, and gives it when it is connected.
 * BullMQ's PostgreSQL backend keeps a first connection that failed for as long as it lives: whoever
 * got that is closed, and another is opened. Rejects when none gets ready in 30 seconds.
 */
export const openReady = async <
  Opened extends { waitUntilReady(): Promise<unknown>; close(): Promise<unknown> },
>(
  open: () => Opened,
): Promise<Opened> => {
  const deadline = Date.now() + startPatience_ms;
  for (;;) {
    const opened = open();
    try {
      await opened.waitUntilReady();
      return opened;
    } catch (error) {
      await opened.close().catch(() => {});
      if (Date.now() > deadline) throw error;
      await delay(readyPause_ms);
    }
  }
};
