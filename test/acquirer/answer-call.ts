/** An answer of the API over HTTP, with its fault. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { apiError, type ApiResponse } from './api.ts';
import type { FaultKind } from './faults.ts';

/** How long a slow answer takes, and how long a call hangs that gets no answer. */
const slow_ms = 1_000;
const hang_ms = 60_000;

/** Answers with a body and ends. */
export const send = (response: ServerResponse, status: number, body: string, type = 'application/json'): void => {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body);
};

/** Another operation's id than was ordered. */
const confused = ({ status, body }: ApiResponse): ApiResponse =>
  status === 200 && body.metadata ? { status, body: { ...body, metadata: { ...body.metadata, operation_id: randomUUID() } } } : { status, body };

/** A kopeck more than was ordered. */
const falsified = ({ status, body }: ApiResponse): ApiResponse => {
  if (status !== 200 || !body.amount) return { status, body };
  const value = body.amount.value.replace(/\d\d$/, (last: string) => String((Number(last) + 1) % 100).padStart(2, '0'));
  return { status, body: { ...body, amount: { ...body.amount, value } } };
};

/** Runs a call and answers it, as well as its fault lets. */
export const answerCall = async (fault: FaultKind | null, response: ServerResponse, run: () => ApiResponse): Promise<void> => {
  const tell = ({ status, body }: ApiResponse): void => send(response, status, JSON.stringify(body));
  const hang = (): Promise<unknown> => Promise.race([delay(hang_ms, undefined, { ref: false }), once(response, 'close')]);
  switch (fault) {
    case null:
      return tell(run());
    case 'wrong_amount':
      return tell(falsified(run()));
    case 'wrong_id':
      return tell(confused(run()));
    case 'slow':
      await delay(slow_ms);
      return tell(run());
    case 'too_many':
      return tell(apiError(429, 'too_many_requests', 'Too many requests'));
    case 'error_before':
      return tell(apiError(500, 'internal_server_error', 'Nothing was done'));
    case 'error_after':
      run();
      return tell(apiError(500, 'internal_server_error', 'It was done'));
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
