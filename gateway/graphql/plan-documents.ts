/**
 * Documents that have not been seen before are read and planned in a thread of their own, one at a
 * time. Callers take turns, so that a caller with ninety documents waits for itself; how many wait
 * for one caller, how long they wait, and how long one may take are bounded.
 */
import { Worker } from 'node:worker_threads';
import type { QueryPlan } from '@apollo/query-planner';
import { GraphQLError, Source } from 'graphql';
import type { Mistake, PlanningAnswer, PlanningTask } from './planning-thread.ts';

/** Documents of one caller that may wait. */
const waitingPerCaller_max = 100;
/** How long a document may wait for its turn. */
const patience_ms = 10_000;
/** How long one document may take; the thread is then ended, and another begun. */
const deadline_ms = 10_000;
/** How long a thread may take to begin. */
const beginning_ms = 60_000;
const threadHeap_MB = 512;

export interface DocumentPlanner {
  /**
   * What is wrong with a client's text; nothing when it may run. Rejects with `rate_limited` or
   * `query_too_complex`.
   */
  readonly mistakesIn: (
    text: string,
    caller: string,
    introspection: boolean,
  ) => Promise<readonly GraphQLError[]>;
  /** The plan of a document with one valid operation. Rejects likewise. */
  readonly plan: (text: string, caller: string) => Promise<QueryPlan>;
}

interface Waiting {
  readonly task: PlanningTask;
  readonly since_ms: number;
  readonly resolve: (answer: PlanningAnswer) => void;
  readonly reject: (error: Error) => void;
}

const refusal = (code: string, message: string, status: number): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http: { status } } });
const tooMany = (): GraphQLError =>
  refusal(
    'rate_limited',
    'Too many documents that were not seen before; try again in a second.',
    429,
  );
const tooLong = (): GraphQLError =>
  refusal(
    'query_too_complex',
    'The operation takes too long to plan; ask for less at a time.',
    400,
  );

const planners = new Map<string, DocumentPlanner>();

/**
 * The planner of this process for the supergraph. Its thread begins with the first document, and
 * keeps no process alive.
 */
export const plannerOf = (supergraphSdl: string): DocumentPlanner => {
  const known = planners.get(supergraphSdl) ?? openPlanner(supergraphSdl);
  planners.set(supergraphSdl, known);
  return known;
};

const openPlanner = (supergraphSdl: string): DocumentPlanner => {
  const turns = new Turns(supergraphSdl);
  return {
    mistakesIn: async (text, caller, introspection) => {
      const answer = await turns.ask({ kind: 'read', text, introspection }, caller);
      return 'mistakes' in answer ? mistakesOf(text, answer.mistakes) : failed(answer);
    },
    plan: async (text, caller) => {
      const answer = await turns.ask({ kind: 'plan', text, introspection: false }, caller);
      return 'plan' in answer ? answer.plan : failed(answer);
    },
  };
};

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

/** Who waits, by caller, in the order of their turns. */
class Turns {
  readonly #supergraphSdl: string;
  readonly #waiting = new Map<string, Waiting[]>();
  #running: Waiting | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #thread: Worker | null = null;
  /** When the thread had begun; null while it has not. Until then nobody's time counts. */
  #began_ms: number | null = null;

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
      if (performance.now() - Math.max(next.since_ms, this.#began_ms ?? Infinity) <= patience_ms)
        return this.#run(next);
      next.reject(tooMany());
    }
  }

  #run(next: Waiting): void {
    const thread = (this.#thread ??= this.#begin());
    this.#running = next;
    this.#giveTime(thread);
    thread.ref();
    thread.postMessage(next.task, []);
  }

  #begin(): Worker {
    const thread = new Worker(new URL('./planning-thread.ts', import.meta.url), {
      workerData: { supergraphSdl: this.#supergraphSdl },
      resourceLimits: { maxOldGenerationSizeMb: threadHeap_MB },
    });
    this.#began_ms = null;
    thread.on('message', (answer: PlanningAnswer | 'begun') => {
      if (answer !== 'begun') return this.#settle((running) => running.resolve(answer));
      this.#began_ms = performance.now();
      return this.#giveTime(thread);
    });
    thread.on('error', (error) =>
      this.#end(thread, error instanceof Error ? error : new Error(String(error))),
    );
    thread.on('exit', () => this.#end(thread, tooLong()));
    return thread;
  }

  #giveTime(thread: Worker): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(
      () => this.#end(thread, tooLong()),
      this.#began_ms === null ? beginning_ms : deadline_ms,
    );
  }

  /** Ends the thread; whoever it worked for is told why. */
  #end(thread: Worker, why: Error): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    void thread.terminate();
    this.#settle((running) => running.reject(why));
  }

  #settle(tell: (running: Waiting) => void): void {
    clearTimeout(this.#deadline);
    const running = this.#running;
    this.#running = null;
    this.#thread?.unref();
    if (running) tell(running);
    this.#next();
  }
}
