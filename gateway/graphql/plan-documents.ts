/**
 * New documents are validated and planned in a worker thread, one at a time. Callers take turns, so
 * that a caller with ninety documents delays only itself. The queue of each caller, the waiting
 * time and the time for one document are bounded.
 */
import { Worker } from 'node:worker_threads';
import type { QueryPlan } from '@apollo/query-planner';
import { GraphQLError, Source } from 'graphql';
import { codedError } from './errors.ts';
import type { Mistake, PlanningAnswer, PlanningTask } from './planning-thread.ts';

const waitingPerCaller_max = 100;
const queueWait_max_ms = 10_000;
/**
 * How long one document may take. The thread is then ended, and the next document starts a new one.
 */
const documentTime_max_ms = 10_000;
const threadStart_max_ms = 60_000;
const threadHeap_MB = 512;

interface Waiting {
  readonly task: PlanningTask;
  readonly since_ms: number;
  readonly resolve: (answer: PlanningAnswer) => void;
  readonly reject: (error: Error) => void;
}

const tooMany = (): GraphQLError =>
  codedError('rate_limited', 'Too many documents to plan; try again in a second.', 429);
const tooLong = (): GraphQLError =>
  codedError(
    'query_too_complex',
    'The operation takes too long to plan; request less at a time.',
    400,
  );

const planners = new Map<string, DocumentPlanner>();

/**
 * The planner of this process for the supergraph. Its thread starts with the first document, and
 * keeps no process alive.
 */
export const plannerOf = (supergraphSdl: string): DocumentPlanner => {
  const known = planners.get(supergraphSdl) ?? openPlanner(supergraphSdl);
  planners.set(supergraphSdl, known);
  return known;
};

const openPlanner = (supergraphSdl: string) => {
  const queue = new FairQueue(supergraphSdl);
  return {
    /**
     * The errors in a client's text; empty when it may run. Rejects with `rate_limited` or
     * `query_too_complex`.
     */
    mistakesIn: async (
      text: string,
      caller: string,
      introspection: boolean,
    ): Promise<readonly GraphQLError[]> => {
      const answer = await queue.ask({ kind: 'read', text, introspection }, caller);
      return 'mistakes' in answer ? mistakesOf(text, answer.mistakes) : failed(answer);
    },
    /** The plan of a document with one valid operation. Rejects in the same way. */
    plan: async (text: string, caller: string): Promise<QueryPlan> => {
      const answer = await queue.ask({ kind: 'plan', text, introspection: false }, caller);
      return 'plan' in answer ? answer.plan : failed(answer);
    },
  };
};
export type DocumentPlanner = ReturnType<typeof openPlanner>;

const mistakesOf = (text: string, mistakes: readonly Mistake[]): readonly GraphQLError[] => {
  const source = new Source(text);
  return mistakes.map(
    ({ message, positions, extensions }) =>
      new GraphQLError(message, { source, positions: [...positions], extensions }),
  );
};

const failed = (answer: PlanningAnswer): never => {
  throw new Error('failure' in answer ? answer.failure : 'the thread answered something else');
};

/** Waiting documents by caller, in the order of the callers' turns. */
class FairQueue {
  readonly #supergraphSdl: string;
  readonly #waiting = new Map<string, Waiting[]>();
  #running: Waiting | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #thread: Worker | null = null;
  /** When the thread was ready; null until then, when no waiting time is counted. */
  #ready_ms: number | null = null;

  constructor(supergraphSdl: string) {
    this.#supergraphSdl = supergraphSdl;
  }

  ask(task: PlanningTask, caller: string): Promise<PlanningAnswer> {
    const queue = this.#waiting.get(caller) ?? [];
    if (queue.length >= waitingPerCaller_max) return Promise.reject(tooMany());
    const { promise, resolve, reject } = Promise.withResolvers<PlanningAnswer>();
    queue.push({ task, since_ms: performance.now(), resolve, reject });
    this.#waiting.set(caller, queue);
    this.#next();
    return promise;
  }

  #next(): void {
    if (this.#running) return;
    for (const [caller, queue] of this.#waiting) {
      this.#waiting.delete(caller);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(caller, queue);
      if (!next) continue;
      if (
        performance.now() - Math.max(next.since_ms, this.#ready_ms ?? Infinity) <=
        queueWait_max_ms
      )
        return this.#run(next);
      next.reject(tooMany());
    }
  }

  #run(next: Waiting): void {
    const thread = (this.#thread ??= this.#startThread());
    this.#running = next;
    this.#startDeadline(thread);
    thread.ref();
    thread.postMessage(next.task, []);
  }

  #startThread(): Worker {
    const thread = new Worker(new URL('./planning-thread.ts', import.meta.url), {
      workerData: { supergraphSdl: this.#supergraphSdl },
      resourceLimits: { maxOldGenerationSizeMb: threadHeap_MB },
    });
    this.#ready_ms = null;
    thread.on('message', (answer: PlanningAnswer | 'ready') => {
      if (answer !== 'ready') return this.#settle((running) => running.resolve(answer));
      this.#ready_ms = performance.now();
      return this.#startDeadline(thread);
    });
    thread.on('error', (error) =>
      this.#endThread(thread, error instanceof Error ? error : new Error(String(error))),
    );
    thread.on('exit', () => this.#endThread(thread, tooLong()));
    return thread;
  }

  #startDeadline(thread: Worker): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(
      () => this.#endThread(thread, tooLong()),
      this.#ready_ms === null ? threadStart_max_ms : documentTime_max_ms,
    );
  }

  #endThread(thread: Worker, why: Error): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    void thread.terminate();
    this.#settle((running) => running.reject(why));
  }

  #settle(notify: (running: Waiting) => void): void {
    clearTimeout(this.#deadline);
    const running = this.#running;
    this.#running = null;
    this.#thread?.unref();
    if (running) notify(running);
    this.#next();
  }
}
