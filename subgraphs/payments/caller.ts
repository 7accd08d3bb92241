/** Who operates on a payment: the key of its shop, or a person for its merchant. */
import type { Acting } from '../platform/database/audit.ts';
import type { ClaimingCaller } from '../platform/database/idempotency.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { KeyPrincipal, OperatorPrincipal, Principal } from '../platform/access/principal.ts';
import { keyOf } from '../platform/access/access.ts';
import type { Payment } from './entities.ts';
import { loadPayments } from './find-payments.ts';
import type { PaymentsDeps } from './parts.ts';

/** A person, in the shop and the mode of the payment. */
export interface PersonCaller extends ClaimingCaller {
  readonly kind: 'person';
  readonly principal: OperatorPrincipal;
}

export type PaymentCaller = KeyPrincipal | PersonCaller;

/** The caller as the audit log has it. */
export const actingOf = (
  caller: PaymentCaller,
  requestId: string,
  now: Temporal.Instant,
): Acting => ({
  principal: caller.kind === 'person' ? caller.principal : caller,
  requestId,
  now: () => now,
});

export const isOfCaller = (
  { shopId, mode }: Pick<Payment, 'shopId' | 'mode'>,
  caller: ClaimingCaller,
): boolean => shopId === caller.shopId && mode === caller.mode;

/** The payment, as its caller names it. */
interface Named {
  readonly id: string;
  readonly merchantId?: string | null | undefined;
}

/** The caller, and what time it is for them. */
interface Calling {
  readonly caller: PaymentCaller;
  readonly now: Temporal.Instant;
}

/**
 * The caller of an operation on a payment. A person acts in the shop, mode and time of the payment,
 * and must name the merchant. Refuses with `bad_request` and `not_found`.
 */
export const callerOf = async (
  { database, clocks }: Pick<PaymentsDeps, 'database' | 'clocks'>,
  principal: Principal,
  { id, merchantId: named }: Named,
  now: () => Temporal.Instant,
): Promise<Calling | Refusal> => {
  if (principal.kind !== 'operator') {
    const caller = keyOf(principal);
    return named && named !== caller.merchantId
      ? refuse('not_found', 'there is no such payment')
      : { caller, now: now() };
  }
  const merchantId = principal.merchantId ?? named;
  if (!merchantId) return refuse('bad_request', 'merchantId: required');
  const isTheirs = !named || named === merchantId;
  const [payment] = isTheirs ? await loadPayments(database.pool, [{ merchantId, id }]) : [];
  if (!payment) return refuse('not_found', 'there is no such payment');
  const { shopId, mode } = payment;
  return {
    caller: { kind: 'person', principal, merchantId, shopId, mode },
    now: mode === 'test' ? await clocks.timeOf({ kind: 'payment', merchantId, id }) : now(),
  };
};
