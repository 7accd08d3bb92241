/**
 * Concurrent operations share one request to their subgraph (`operation-batch`). The operations of
 * one turn of the event loop are sent together at once, without waiting for more; a single
 * operation has a request of its own. A request holds its connection until its last operation is
 * answered, so a slow operation delays no other answer. While every connection is busy, operations
 * gather for the next free one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dispatcher } from 'undici';
import {
  batchAnswerSchema,
  batchOperations_max,
  linesType,
  readAs,
} from '../subgraphs/platform/graph/process-messages.ts';

/** An operation as it is sent. Document and variables are JSON already. */
export interface SharedOperation {
  readonly query: string;
  readonly variables: string;
  readonly principal: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
}

interface SharingDeps {
  readonly dispatcher: Dispatcher;
  /** The address of batches, below the origin. */
  readonly path: string;
  /** Requests under way. */
  readonly inFlight_max: number;
  readonly answerTimeout_ms: number;
  /** Sends an operation by itself. */
  readonly alone: (operation: SharedOperation) => Promise<unknown>;
}

interface Waiting {
  readonly operation: SharedOperation;
  readonly answer: PromiseWithResolvers<unknown>;
}

// A batch belongs to no call, so it runs in no call's trace.
const outsideOfCalls = AsyncLocalStorage.snapshot();

/**
 * Opens the sharing of one subgraph's requests. The function sends an operation and returns its
 * answer. It rejects as a separate request would: each operation with its own reason.
 */
export const shareRequests = (
  deps: SharingDeps,
): ((operation: SharedOperation) => Promise<unknown>) => {
  const { inFlight_max, alone } = deps;
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isDue = false;

  const sendAlone = async ({ operation, answer }: Waiting): Promise<void> =>
    alone(operation).then(answer.resolve, answer.reject);

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    const [first] = batch;
    if (first && batch.length === 1) return sendAlone(first);
    await sendTogether(deps, batch);
  };

  const work = async (batch: readonly Waiting[]): Promise<void> => {
    inFlight += 1;
    await send(batch);
    inFlight -= 1;
    if (waiting.length > 0) begin();
  };

  const begin = (): void => {
    isDue = false;
    for (let free = inFlight_max - inFlight; free > 0 && waiting.length > 0; free -= 1) {
      const batch = waiting.slice(0, batchOperations_max);
      waiting = waiting.slice(batchOperations_max);
      void work(batch);
    }
  };

  return (operation) => {
    const answer = Promise.withResolvers<unknown>();
    waiting.push({ operation, answer });
    if (!isDue && inFlight < inFlight_max) {
      isDue = true;
      outsideOfCalls(setImmediate, begin);
    }
    return answer.promise;
  };
};

/** Sends operations in one request, and answers each as its line comes; fulfils at its end. */
const sendTogether = (
  { dispatcher, path, answerTimeout_ms }: SharingDeps,
  batch: readonly Waiting[],
): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = {
    method: 'POST',
    path,
    headers: { 'content-type': linesType },
    body: bodyOf(batch),
    // The whole request has a deadline, of all its operations.
    headersTimeout: 0,
    bodyTimeout: 0,
  } as const;
  dispatcher.dispatch(request, new BatchAnswer(batch, answerTimeout_ms, resolve));
  return promise;
};

/** The place of a text among those that the operations share. */
const openTexts = () => {
  const places = new Map<string, number>();
  return {
    placeOf: (text: string): number => {
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, places.size);
      return places.size - 1;
    },
    all: (): readonly string[] => [...places.keys()],
  };
};

const bodyOf = (batch: readonly Waiting[]): string => {
  const documents = openTexts();
  const principals = openTexts();
  let lines = '';
  for (const { operation } of batch) {
    const { query, principal, requestId, traceparent, variables } = operation;
    const traced = traceparent === undefined ? '' : `"traceparent":"${traceparent}",`;
    lines += `\n{"document":${documents.placeOf(query)},"principal":${principals.placeOf(principal)},"requestId":${JSON.stringify(requestId)},${traced}"variables":${variables}}`;
  }
  return `{"documents":[${documents.all().join(',')}],"principals":${JSON.stringify(principals.all())}}${lines}`;
};

const lineEnd = 0x0a;

/** Another status than 200: a balancer's word, or that of a subgraph that could not run it. */
export class AnsweredOtherwise extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`answered ${status}`);
    this.status = status;
  }
}

/** What a connection says that breaks under a request. */
const broken: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/**
 * Whether the called process died, or a balancer says so, and another one may answer. A timeout
 * does not count.
 */
export const isLost = (thrown: unknown): boolean => {
  if (thrown instanceof AnsweredOtherwise) return thrown.status === 502 || thrown.status === 503;
  return thrown instanceof Error && 'code' in thrown && broken.includes(thrown.code);
};

/** The answer to a batch as undici delivers it: each operation is answered by its line. */
class BatchAnswer implements Dispatcher.DispatchHandler {
  readonly #batch: readonly Waiting[];
  readonly #ended: () => void;
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isLate = false;
  #status = 0;
  #rest: Buffer[] = [];

  constructor(batch: readonly Waiting[], answerTimeout_ms: number, ended: () => void) {
    this.#batch = batch;
    this.#ended = ended;
    this.#deadline = setTimeout(() => this.#giveUp(), answerTimeout_ms);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isLate) controller.abort(late());
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status !== 200) return;
    const end = chunk.lastIndexOf(lineEnd);
    this.#rest.push(end < 0 ? chunk : chunk.subarray(0, end));
    if (end < 0) return;
    const lines = Buffer.concat(this.#rest).toString('utf8');
    this.#rest = [chunk.subarray(end + 1)];
    try {
      for (const line of lines.split('\n')) this.#answer(line);
    } catch (thrown) {
      controller.abort(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  onResponseEnd(): void {
    this.#fail(new AnsweredOtherwise(this.#status));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #answer(line: string): void {
    const { operation, status, answer } = readAs(batchAnswerSchema, JSON.parse(line), 'a batch');
    const answered = this.#batch[operation]?.answer;
    if (status === 200) answered?.resolve(answer);
    else answered?.reject(new AnsweredOtherwise(status));
  }

  /** The operations that have had no answer get none. */
  #fail(error: Error): void {
    for (const { answer } of this.#batch) answer.reject(error);
    this.#end();
  }

  #giveUp(): void {
    this.#isLate = true;
    this.#controller?.abort(late());
    this.#fail(late());
  }

  #end(): void {
    clearTimeout(this.#deadline);
    this.#ended();
  }
}

const late = (): Error => new Error('no answer in time');
