/**
 * Revokes a token; twice is no mistake. A pending token's binding payment is cancelled with it. The
 * payment is cancelled first: a crash in between leaves a cancelled payment, whose event ends the
 * token. A buyer who is at the bank already may still pay; the token is never charged then, and
 * what was paid stays the merchant's, as all payments already made do.
 */
import type pg from 'pg';
import { isUuid } from '../../rules/ids.ts';
import { inTransaction } from '../../platform/database/statement.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import type { TokenDeps } from './bind-token.ts';
import type { Token } from './entities.ts';
import { loadTokens } from '../find-recurring.ts';
import { tokenMove } from '../rules/token.ts';
import { lockTokens, storeTokens } from './store-token.ts';

/** Writes what is to stand in the log, in the transaction that cancels the token. */
type TokenRecord = (client: pg.PoolClient, before: Token) => Promise<void>;

const noToken = refuse('not_found', 'there is no such token');

/**
 * Cancels a token of the merchant in the mode; gives it as it is then. Refuses with `not_found`.
 * Rejects when payments did not answer.
 */
export const cancelToken = async (
  { database: { pool }, payments }: TokenDeps,
  { merchantId, mode }: Pick<KeyPrincipal, 'merchantId' | 'mode'>,
  id: string,
  { requestId, now }: { readonly requestId: string; readonly now: Temporal.Instant },
  record: TokenRecord = async () => {},
): Promise<Token | Refusal> => {
  if (!isUuid(id)) return noToken;
  const [found] = await loadTokens(pool, [{ merchantId, id }]);
  if (found?.mode !== mode) return noToken;
  // Refusal when there is nothing to cancel any more: then the token alone is.
  if (found.status === 'pending' && found.bindingPaymentId)
    await payments.cancelBinding({ merchantId, id: found.bindingPaymentId }, requestId);
  return inTransaction(pool, async (client) => {
    const [token] = await lockTokens(client, [{ merchantId, id }]);
    if (!token) return noToken;
    const status = tokenMove(token.status, 'merchant_cancelled');
    if (!status) return token;
    const cancelled = { ...token, status };
    await storeTokens(client, [{ before: token, after: cancelled, at: now }]);
    await record(client, token);
    return cancelled;
  });
};
