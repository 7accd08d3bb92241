/** The errors that calls throw. */
import type { ErrorCode, Schemas } from './schemas.ts';

/** The details of a failed call. */
export interface FailedCall {
  /** How often it was sent. */
  readonly attempts: number;
  /** The key of every attempt; null for calls that take none. */
  readonly idempotencyKey: string | null;
}

/** The service refused the call. Branch on `code`; `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  /** Quote it to support. */
  readonly requestId: string | null;
  /** Seconds until a retry may help; null when it does not. */
  readonly retryAfter_s: number | null;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  /** For `bad_request`: all invalid fields; empty when the error is in no field. */
  readonly fields: readonly Schemas['FieldMistake'][];
  /** For `idempotent_conflict`: what the key was first used for; else null. */
  readonly firstRequest: Schemas['FirstRequest'] | null;

  constructor(
    answer: Schemas['Error']['error'] & Pick<ApiError, 'status' | 'requestId' | 'retryAfter_s'>,
    call: FailedCall,
  ) {
    super(answer.message);
    this.status = answer.status;
    this.code = answer.code;
    this.requestId = answer.requestId;
    this.retryAfter_s = answer.retryAfter_s;
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
    this.fields = answer.fields ?? [];
    this.firstRequest = answer.first_request ?? null;
  }
}

/**
 * The service's answer did not arrive: the connection was refused or lost, the call timed out, or
 * an intermediary answered. The call may have taken effect: repeat it with the same
 * `idempotencyKey`.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly attempts: number;
  readonly idempotencyKey: string | null;

  constructor(message: string, call: FailedCall, cause?: unknown) {
    super(message, { cause });
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
  }
}

/** A webhook is not genuine, or too old; answer it with 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** The service has ended the stream permanently. */
export class StreamEnded extends Error {
  override readonly name = 'StreamEnded';
  /** `replaced`: another stream of the same key was opened. `revoked`: the key was. */
  readonly reason: 'replaced' | 'revoked';

  constructor(reason: 'replaced' | 'revoked') {
    super(
      reason === 'replaced'
        ? 'another stream of this key was opened; a key has one at a time'
        : 'the key was revoked, or may not call from here any more',
    );
    this.reason = reason;
  }
}
