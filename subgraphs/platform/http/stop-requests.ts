/**
 * Requests to stop a process, from its first line on: signals, and the loss of its parent process.
 * It imports nothing of the service, so that it listens before other modules load.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** One press of Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const samePress_ms = 250;
/** The exit status of a program that Ctrl-C has ended, as in shells. */
const killedCode = 130;

/**
 * Listens for requests to stop. The first aborts the signal, with an error that names their
 * source in readable words. A second
 * Ctrl-C, and SIGQUIT at any time, end the process at once with 130; its `exit` listeners run.
 */
export const listenForStop = (): AbortSignal => {
  const stopping = new AbortController();
  let asked_ms = Infinity;
  const ask = (who: string): void => {
    asked_ms = Math.min(asked_ms, performance.now());
    stopping.abort(new Error(who));
  };
  process.on('SIGINT', () => {
    if (performance.now() - asked_ms >= samePress_ms) process.exit(killedCode);
    ask('Ctrl-C');
  });
  process.on('SIGQUIT', () => process.exit(killedCode));
  process.on('SIGTERM', () => ask('SIGTERM'));
  process.on('SIGHUP', () => ask('its terminal was closed'));
  process.on('disconnect', () => ask('asked to'));
  // The channel to the parent process must not keep this one alive.
  process.channel?.unref();
  // It may have closed before the listener was added: then no event comes.
  if ('connected' in process && !process.connected) ask('asked to');
  return stopping.signal;
};

export const stopAsked = (stopping: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stopping.aborted) resolve();
    else stopping.addEventListener('abort', () => resolve(), { once: true });
  });

/** Throws the request when a stop was requested, including while modules were loading. */
export const throwIfStopped = async (stopping: AbortSignal): Promise<void> => {
  await nextTurn();
  stopping.throwIfAborted();
};

/** How long a step of the start may continue after a stop was requested. */
const stepPatience_ms = 1_000;

/**
 * Runs one step of a start. Throws the request instead of beginning it when a stop was requested; a
 * running step then has a second to end by itself, and is abandoned after that.
 */
export const runStep = async <Result>(
  stopping: AbortSignal,
  step: () => Promise<Result>,
): Promise<Result> => {
  await throwIfStopped(stopping);
  const done = new AbortController();
  const tooLate = stopAsked(stopping)
    .then(() => delay(stepPatience_ms, undefined, { signal: done.signal }))
    .then(() => stopping.throwIfAborted());
  // What lost the race has no more effect.
  tooLate.catch(() => {});
  try {
    const running = step();
    await Promise.race([running, tooLate]);
    return await running;
  } finally {
    done.abort();
  }
};
