/** The caller (docs/contract.md#authentication) and its scopes (docs/contract.md#scopes). */
import type { Mode } from '../../rules/mode.ts';
import type { AnswerMeter } from './answer-meter.ts';

export const scopes = [
  'api:reports:read',
  'api:balance:read',
  'api:payouts:sbp',
  'api:payouts:card',
  'api:payouts:account',
  'api:recurrent:bind',
  'api:recurrent:charge',
] as const;
export type Scope = (typeof scopes)[number];

export const roles = ['viewer', 'support', 'finance', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A merchant's API key: one shop, one mode. */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: string;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly scopes: readonly Scope[];
  /** Present where the shop sells nothing without a receipt. */
  readonly receiptsRequired?: true;
}

/** A person at the operator, or a cabinet user when narrowed to a merchant. */
export interface OperatorPrincipal {
  readonly kind: 'operator';
  readonly subject: string;
  readonly role: Role;
  /** Null: all merchants. */
  readonly merchantId: string | null;
}

/** The buyer on one payment's hosted page. */
export interface BuyerPrincipal {
  readonly kind: 'buyer';
  readonly merchantId: string;
  readonly paymentId: string;
}

/**
 * A process of the edge on its own behalf: it identifies callers and passes on bank notifications.
 */
interface EdgePrincipal {
  readonly kind: 'edge';
  readonly name: string;
}

/** Another role of this service, which works on the record. */
interface ServicePrincipal {
  readonly kind: 'service';
  readonly name: string;
}

export type Principal =
  | KeyPrincipal
  | OperatorPrincipal
  | BuyerPrincipal
  | EdgePrincipal
  | ServicePrincipal;

/** What crosses every border inside the service with a call. */
export interface Call {
  readonly principal: Principal;
  readonly requestId: string;
  /**
   * Whether the caller composed the request (a document, a live read, a list): its statements wait
   * for their turns (`platform/access/lane`).
   */
  readonly isInLane: boolean;
  /** Counts the answer to a caller's own document; absent where the service knows the request. */
  readonly meter?: AnswerMeter;
  /**
   * Whether a mutation of this call takes effect once however often it is sent: its caller gave an
   * idempotency key.
   */
  readonly mayRepeat?: boolean;
}
