/** What a call throws. */
import type { ErrorCode, Schemas } from './schemas.ts';

/** What is known of a call that failed. */
export interface FailedCall {
  /** How often it was sent. */
  readonly attempts: number;
  /** The key that every attempt had; null for calls that take none. */
  readonly idempotencyKey: string | null;
}

/** The service refused the call. Branch on `code`; `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  /** Quote it to support. */
  readonly requestId: string | null;
  /** Seconds after which trying again may help; null when it does not. */
  readonly retryAfter_s: number | null;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  /** Of `bad_request`: the fields with mistakes, all at once; empty where no field has one. */
  readonly fields: readonly Schemas['FieldMistake'][];
  /** Of `idempotent_conflict`: what the key was first used for; else null. */
  readonly firstRequest: Schemas['FirstRequest'] | null;

  constructor(
    answer: {
      readonly status: number;
      readonly code: ErrorCode;
      readonly message: string;
      readonly requestId: string | null;
      readonly retryAfter_s: number | null;
      readonly fields?: readonly Schemas['FieldMistake'][];
      readonly first_request?: Schemas['FirstRequest'];
    },
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
 * No answer of the service arrived: the connection was refused or lost, it took too long, or
 * something between answered instead. The call may have been carried out: repeat it with the same
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

/** The service has ended the stream for good. */
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
