import type { ServerResponse } from 'node:http';

/**
 * Calls `act` once when the connection of an answer is closed, by either side. A caller may hang up
 * while the answer is being prepared: the response emits its `close` then, and never again.
 */
export const whenClosed = (response: ServerResponse, act: () => void): void => {
  if (response.closed) queueMicrotask(act);
  else response.once('close', act);
};
