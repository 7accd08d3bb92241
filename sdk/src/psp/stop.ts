/** How a command is stopped: its calls end at once, and what was under way is named. */
import type { Send } from '../transport.ts';

/** Ctrl-C, or SIGTERM. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  /** The key of the creating call that was under way. */
  readonly idempotencyKey: string | null;

  constructor(idempotencyKey: string | null = null) {
    super('stopped');
    this.idempotencyKey = idempotencyKey;
  }
}

/** Aborted by the first Ctrl-C; the second one ends the process as usual. */
export const listenForStop = (): AbortSignal => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Stopped()));
  return stopping.signal;
};

/** The same way to the service, whose calls end when the command is stopped. */
export const stoppable =
  (send: Send, stopped: AbortSignal): Send =>
  async (call, receive) => {
    const key = call.takesKey ? (call.options?.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const options = { ...call.options, idempotencyKey: key, signal: stopped };
    try {
      return await send({ ...call, options }, receive);
    } catch (error) {
      if (!stopped.aborted || key === undefined) throw error;
      throw new Stopped(key);
    }
  };
