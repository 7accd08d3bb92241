/** What the two stores that BullMQ can run on have in common. */
import type { BackendFactory, IQueueBackend, Queue } from 'bullmq';

/** Ids that a job needs to find its row. */
export type JobPayload = Readonly<Record<string, string>>;

/** One of BullMQ's queues, on either store. */
export type StoredQueue = Queue<JobPayload, void, string, JobPayload, void, string, IQueueBackend>;

/** An open store of queues. */
export interface Backend {
  /** Makes BullMQ's own view of the store for one of its queues or workers. Whatever connection BullMQ's options name is ignored. */
  readonly factory: BackendFactory;
  /** Rejects when the store does not answer. */
  ask(): Promise<void>;
  /** Ends every connection, also those that BullMQ made and did not end. */
  close(): Promise<void>;
}

/** How long a store that is starting at the same time as we are may take. */
export const startPatience_ms = 30_000;
