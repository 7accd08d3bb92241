/** The canceller: a key of the merchant, or a person for it, with a reason. */
import { reason_max_chars } from '../../schema/limits.ts';
import type pg from 'pg';
import type { MutationtokenCancelArgs } from '../../schema/generated/recurring.ts';
import { writeEntry, type Acting, type AuditedAction } from '../platform/database/audit.ts';
import type { Mode } from '../rules/mode.ts';
import { refuse, type Refusal, textMistake } from '../rules/refusal.ts';
import type { RowKey } from '../platform/database/batch-calls.ts';
import type { KeyPrincipal, Principal } from '../platform/access/principal.ts';
import { keyOf } from '../platform/access/access.ts';

/**
 * The merchant that cancels an object of `kind`, and the mode of its things; a person's is that of
 * the object itself, which `find` reads. Refuses with `bad_request` a person without a
 * merchant or a reason, and with `not_found`.
 */
export const cancellingCaller = async (
  principal: Principal,
  kind: 'subscription' | 'token',
  { id, merchantId: named, reason }: MutationtokenCancelArgs,
  find: (key: RowKey) => Promise<{ readonly mode: Mode } | null>,
): Promise<Pick<KeyPrincipal, 'merchantId' | 'mode'> | Refusal> => {
  const none = refuse('not_found', `there is no such ${kind}`);
  if (principal.kind !== 'operator') {
    const { merchantId, mode } = keyOf(principal);
    return named && named !== merchantId ? none : { merchantId, mode };
  }
  const merchantId = principal.merchantId ?? named;
  if (!merchantId) return refuse('bad_request', 'merchantId: required');
  const mistake = textMistake('reason', reason ?? '', 1, reason_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  if (named && named !== merchantId) return none;
  const found = await find({ merchantId, id });
  return found ? { merchantId, mode: found.mode } : none;
};

/** Writes the entry of a person's cancellation, in the transaction that cancels; a key has none. */
export const recordCancellation = async (
  client: pg.PoolClient,
  acting: Acting,
  action: AuditedAction,
  { before, reason }: { readonly before: string; readonly reason: string | null },
): Promise<void> => {
  if (acting.principal.kind !== 'operator') return;
  const states = { before: { status: before }, after: { status: 'cancelled', reason } };
  await writeEntry(client, acting, action, states);
};
