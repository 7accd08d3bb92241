/** HTTP meets the domain: a row for each code of docs/contract.md#errors. */
import type { FastifyReply } from 'fastify';
import { blockedMessage, rateMessage } from '../gateway/callers/admit-caller.ts';
import { refusalJson, type FirstUse } from '../schema/wire.ts';
import {
  fieldMistakes_max,
  fieldsOf,
  type FieldMistake,
  type RefusalCode,
} from '../subgraphs/rules/refusal.ts';

/** Codes that only the edge gives: the domain knows nothing of them. */
type EdgeCode =
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal_error'
  | 'unavailable';
export type ErrorCode = RefusalCode | EdgeCode;

interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A code without an answer does not compile. */
export const refusalHttp: Readonly<Record<ErrorCode, HttpAnswer>> = {
  bad_request: { status: 400 },
  signature_required: { status: 400 },
  invalid_signature: { status: 400 },
  unauthorized: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  live_not_enabled: { status: 403 },
  ip_not_allowed: { status: 403 },
  scope_required: { status: 403 },
  aml_blocked: { status: 403 },
  forbidden_purpose: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  not_pending: { status: 409 },
  idempotent_conflict: { status: 409 },
  // The first call has been waited for already: it will not be long now.
  idempotent_in_progress: { status: 409, headers: { 'retry-after': '1' } },
  payment_not_authorized: { status: 409 },
  payment_not_succeeded: { status: 409 },
  already_refunded: { status: 409 },
  token_not_active: { status: 409 },
  receipt_not_expected: { status: 409 },
  payload_too_large: { status: 413 },
  unsupported_media_type: { status: 415 },
  amount_exceeds_remainder: { status: 422 },
  capture_declined: { status: 422 },
  insufficient_balance: { status: 422 },
  route_not_configured: { status: 422 },
  method_unsupported: { status: 422 },
  rate_limited: { status: 429, headers: { 'retry-after': '1' } },
  internal_error: { status: 500 },
  router_error: { status: 502 },
  unavailable: { status: 503, headers: { 'retry-after': '1' } },
};

/** Whether a GraphQL error's code is one that a merchant may see. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(refusalHttp, code);

/** A call that ends here: the content of its envelope. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** The fields of body and query with mistakes; absent where no field has one. */
  readonly fields?: readonly FieldMistake[];
  /** Of `idempotent_conflict`: what the key was first used for. */
  readonly firstRequest?: FirstUse | null;
  /** Seconds after which trying again helps, where the code alone does not state it. */
  readonly retryAfter_s?: number;
  /** Headers in addition to those of the code. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The refusal with a message for the caller, without a time to wait. */
export const refuse = (code: ErrorCode, message: string): Refusal => ({
  code,
  message,
  fields: fieldsOf(code, message),
});

/** Refuses a body and a query with all their mistakes; the message is that of the first. */
export const refuseMistakes = (mistakes: readonly FieldMistake[]): Refusal => {
  const [{ path, message } = { path: '', message: 'invalid' }] = mistakes;
  const fields = mistakes.filter((mistake) => mistake.path !== '').slice(0, fieldMistakes_max);
  return { code: 'bad_request', message: `${path || 'the body'}: ${message}`, fields };
};

/** Too much was asked for; trying again helps after so many seconds. */
export const rateLimited = (message: string, retryAfter_s: number): Refusal => ({
  ...refuse('rate_limited', message),
  retryAfter_s,
});

export const addressBlocked = (wait_s: number): Refusal =>
  rateLimited(blockedMessage(wait_s), wait_s);
export const rateExceeded = (wait_s: number): Refusal => rateLimited(rateMessage(wait_s), wait_s);

export const sendRefusal = (
  reply: FastifyReply,
  { code, message, retryAfter_s, headers: own = {}, fields = [], firstRequest = null }: Refusal,
): FastifyReply => {
  const { status, headers = {} } = refusalHttp[code];
  reply.headers(headers).headers(own);
  if (retryAfter_s !== undefined) reply.header('retry-after', String(retryAfter_s));
  return reply.code(status).send(refusalJson({ code, message, fields, firstRequest }));
};
