/** An answer of the API over HTTP, with its fault. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse } from './exchange.ts';
import type { FaultKind } from './faults.ts';

/** How long a slow answer takes, and how long a call hangs that gets no answer. */
const slow_ms = 1_000;
const hang_ms = 60_000;

/** Answers with a body and ends. */
export const send = (
  response: ServerResponse,
  status: number,
  body: string,
  type = 'application/json',
): void => {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body);
};

/**
 * How an acquirer's API says what is wrong with it, and how its answers look when they are wrong.
 */
export interface Dialect {
  tooMany(): ApiResponse;
  broken(what: string): ApiResponse;
  /** Another operation's id than was ordered. */
  confused(answer: ApiResponse): ApiResponse;
  /** A kopeck more than was ordered. */
  falsified(answer: ApiResponse): ApiResponse;
}

/** Runs a call and answers it, as well as its fault lets. */
export const answerCall = async (
  dialect: Dialect,
  fault: FaultKind | null,
  response: ServerResponse,
  run: () => ApiResponse,
): Promise<void> => {
  const notify = ({ status, body }: ApiResponse): void =>
    send(response, status, JSON.stringify(body));
  const hang = (): Promise<unknown> =>
    Promise.race([delay(hang_ms, undefined, { ref: false }), once(response, 'close')]);
  switch (fault) {
    case null:
      return notify(run());
    case 'wrong_amount':
      return notify(dialect.falsified(run()));
    case 'wrong_id':
      return notify(dialect.confused(run()));
    case 'slow':
      await delay(slow_ms);
      return notify(run());
    case 'too_many':
      return notify(dialect.tooMany());
    case 'error_before':
      return notify(dialect.broken('Nothing was done'));
    case 'error_after':
      run();
      return notify(dialect.broken('It was done'));
    case 'closed_before':
      response.destroy();
      return;
    case 'closed_after':
      run();
      response.destroy();
      return;
    case 'timeout_before':
      await hang();
      return;
    case 'timeout_after':
      run();
      await hang();
  }
};
