/** How the command exits and is stopped. README.md documents the codes. */
import { ApiError, ConnectionError } from '../errors.ts';
import type { Send } from '../transport.ts';

/** `refused`: by the service. `usage`: of the command. `connection`: no answer. `setup`: no key. */
export type FailureKind = 'refused' | 'usage' | 'connection' | 'setup';

const codes: Readonly<Record<FailureKind, number>> = {
  refused: 1,
  usage: 2,
  connection: 3,
  setup: 4,
};

/** The text for people, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The shell's exit code for a program that Ctrl-C has ended. */
const stoppedCode = 130;

/** How to repeat a call that may have taken effect; empty without a key. */
const repetitionOf = (key: string | null, takesKey: boolean): string => {
  if (key === null) return '';
  const option = takesKey ? `repeat it with --idempotency-key ${key}` : `its key is ${key}`;
  return `; the call that was under way may have been carried out: ${option}`;
};

/** What answers at an address that is not asked by a key; without an answer, a Failure says where. */
export const fetchOnce = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new Failure('connection', `nothing answers at ${new URL(url).origin}`);
  });

// How a command is stopped: its calls end at once, and what was under way is named.

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

/**
 * The exit code, the text for people, and the `--json` output of any thrown value. `takesKey`: the
 * command has the option of an idempotency key.
 */
export const describeFailure = (
  error: unknown,
  takesKey = false,
): { readonly code: number; readonly text: string; readonly json: object } => {
  if (error instanceof ApiError) {
    const { code, message, status, requestId, fields, firstRequest } = error;
    const said = `${code}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`;
    // The message is that of the first field.
    const others = fields.slice(1).map((field) => `\n  ${field.path}: ${field.message}`);
    const first = firstRequest?.request_id ? `\n  the first use: ${firstRequest.request_id}` : '';
    const json = { code, message, status, request_id: requestId };
    return {
      code: codes.refused,
      text: `${said}${others.join('')}${first}`,
      json: {
        ...json,
        ...(fields.length > 0 ? { fields } : {}),
        ...(firstRequest ? { first_request: firstRequest } : {}),
      },
    };
  }
  if (error instanceof ConnectionError) {
    const { message, attempts, idempotencyKey } = error;
    const text = `${message} (${attempts} attempts)${repetitionOf(idempotencyKey, takesKey)}`;
    const json = { code: 'no_answer', message, idempotency_key: idempotencyKey };
    return { code: codes.connection, text, json };
  }
  if (error instanceof Stopped) {
    const { message, idempotencyKey } = error;
    const text = `${message}${repetitionOf(idempotencyKey, takesKey)}`;
    const json = { code: 'stopped', message, idempotency_key: idempotencyKey };
    return { code: stoppedCode, text, json };
  }
  const message = error instanceof Error ? error.message : String(error);
  const kind = error instanceof Failure ? error.kind : 'refused';
  return { code: codes[kind], text: message, json: { code: kind, message } };
};
