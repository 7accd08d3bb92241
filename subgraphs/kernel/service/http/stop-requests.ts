/**
 * Requests to stop a process, from its first line on: signals, and the loss of the process that
 * started it. It imports nothing of the service, so that it listens before anything else is loaded.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** Somebody asked this process to stop; the message names who, in words for a person. */
class StopRequested extends Error {
  constructor(who: string) {
    super(who);
    this.name = 'StopRequested';
  }
}

/** One press of Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const samePress_ms = 250;
/** The exit status that shells give a program that Ctrl-C has ended. */
const killedCode = 130;

/**
 * Listens for requests to stop. The first aborts the signal, with a `StopRequested`. A second
 * Ctrl-C, and SIGQUIT at any time, end the process at once with 130; listeners to its `exit` run.
 */
export const listenForStop = (): AbortSignal => {
  const stopping = new AbortController();
  let asked_ms = Infinity;
  const ask = (who: string): void => {
    asked_ms = Math.min(asked_ms, performance.now());
    stopping.abort(new StopRequested(who));
  };
  process.on('SIGINT', () => {
    if (performance.now() - asked_ms >= samePress_ms) process.exit(killedCode);
    ask('Ctrl-C');
  });
  process.on('SIGQUIT', () => process.exit(killedCode));
  process.on('SIGTERM', () => ask('SIGTERM'));
  process.on('SIGHUP', () => ask('its terminal was closed'));
  process.on('disconnect', () => ask('asked to'));
  // The channel to the process that started this one must not keep it alive.
  process.channel?.unref();
  // It may have closed before anybody listened: then no event comes any more.
  if ('connected' in process && !process.connected) ask('asked to');
  return stopping.signal;
};

/** Fulfils when a stop is asked for. */
export const stopAsked = (stopping: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stopping.aborted) resolve();
    else stopping.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Throws the request when a stop was asked for; what came while modules were being loaded is seen,
 * too.
 */
export const throwIfStopped = async (stopping: AbortSignal): Promise<void> => {
  await nextTurn();
  stopping.throwIfAborted();
};

/** How long a step of the start may go on after a stop was asked for. */
const stepPatience_ms = 1_000;

/**
 * Runs one step of a start. Throws the request instead of beginning it when a stop was asked for; a
 * step that is under way then has a second to end by itself, and is left alone after that.
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
