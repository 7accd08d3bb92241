/** Jobs as style rule 10 has them: a job answers done, retry in, or give up. Payloads are ids, never amounts, never secrets. */

/** What a run of a job came to. */
export type JobOutcome =
  | { readonly outcome: 'done' }
  /** Run it again after so many milliseconds. */
  | { readonly outcome: 'retry'; readonly in_ms: number }
  /** Never run it again; say why. */
  | { readonly outcome: 'give_up'; readonly why: string };

export const done: JobOutcome = { outcome: 'done' };
export const retryIn = (in_ms: number): JobOutcome => ({ outcome: 'retry', in_ms });
export const giveUp = (why: string): JobOutcome => ({ outcome: 'give_up', why });

/** Queues, by what they isolate: webhooks must not delay the rest. */
export const queueNames = ['webhooks', 'bank', 'schedules'] as const;
export type QueueName = (typeof queueNames)[number];

/** A kind of job: its name, where it runs, how its payload is read, and what it does. */
export interface Job<Payload = unknown> {
  readonly name: string;
  readonly queue: QueueName;
  /** Present: it is also run on this schedule, with the payload `null`. */
  readonly every_ms?: number;
  /** Reads a payload from a queue; throws when it is not one. */
  readonly parse: (payload: unknown) => Payload;
  readonly run: (payload: Payload) => Promise<JobOutcome>;
}
