/** A job whose runs a test can see. */
import {
  done,
  type Job,
  type JobOutcome,
  type QueueName,
} from '../../subgraphs/platform/queue/run-job.ts';

export interface Run {
  readonly at: number;
  readonly payload: unknown;
}

/** Makes a job that records its runs and answers what `answer` says of the run's number, from 1. */
export const recorded = (
  name: string,
  answer: (run: number) => JobOutcome | Promise<JobOutcome> = () => done,
  options: { readonly queue?: QueueName; readonly every_ms?: number } = {},
): { readonly job: Job; readonly runs: Run[] } => {
  const runs: Run[] = [];
  const run = async (payload: unknown): Promise<JobOutcome> => {
    runs.push({ at: Date.now(), payload });
    return answer(runs.length);
  };
  return {
    job: {
      name,
      queue: options.queue ?? 'bank',
      ...(options.every_ms ? { every_ms: options.every_ms } : {}),
      run,
    },
    runs,
  };
};
