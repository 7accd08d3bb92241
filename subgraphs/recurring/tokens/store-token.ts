/**
 * How tokens are written. A move reads them under their rows' locks, taken in the order of their
 * keys, so that two of these never wait for each other.
 */
import type pg from 'pg';
import { emOn, forUpdate } from '../../platform/database/orm-connections.ts';
import { eachMerchant } from '../../platform/database/sql-file.ts';
import { propertyNames, rowJson, run, type Statement } from '../../platform/database/statement.ts';
import { eventRow, insertEvents } from '../../platform/events/outbox.ts';
import { tokenEvents } from '../recurring-view.ts';
import { TokenEntity, type Token } from '../entities.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';

const names = propertyNames(TokenEntity);

/** Merchants in one order, so that two transactions never wait for each other. */
const inOrder = (keys: readonly RowKey[]): readonly RowKey[] =>
  keys.toSorted((one, other) => (one.merchantId < other.merchantId ? -1 : 1));

/** The existing tokens of these keys, locked until the transaction ends. */
export const lockTokens = (client: pg.PoolClient, keys: readonly RowKey[]): Promise<Token[]> =>
  eachMerchant(inOrder(keys), (own, merchantId) => {
    const these = { merchantId, id: { $in: own.map(({ id }) => id) } };
    return emOn(client).find(TokenEntity, these, { orderBy: { id: 'asc' }, ...forUpdate });
  });

const store: Statement = {
  name: 'token.store',
  text: `with stored as (update token set status = given.status, card_brand = given.card_brand, card_mask = given.card_mask, card_holder = given.card_holder,
      saved_reference = given.saved_reference, last_charged_at = given.last_charged_at
    from jsonb_populate_recordset(null::token, $1::jsonb) as given where token.merchant_id = $2 and token.id = given.id
    returning token.merchant_id, token.id)
    ${insertEvents('$3', 'select 1 from stored where stored.merchant_id = row.merchant_id and stored.id = row.subject_id')}`,
};

/** A locked token, and what it becomes. */
interface TokenChange {
  readonly before: Token;
  readonly after: Token;
  /** When it happens. */
  readonly at: Temporal.Instant;
}

/**
 * Writes locked tokens as they become: status, card, saved method and last charge, nothing else of
 * them changes; with the events of new statuses.
 */
export const storeTokens = async (
  client: pg.PoolClient,
  changes: readonly TokenChange[],
): Promise<void> => {
  const named = changes.map((change) => ({ merchantId: change.before.merchantId, ...change }));
  await eachMerchant(named, async (own, merchantId) => {
    const rows = own.map(({ after }) => rowJson(names, after));
    const events = own.flatMap(({ before, after, at }) => tokenEvents(before.status, after, at));
    const texts = [rows, events.map(eventRow)].map((list) => JSON.stringify(list));
    return run(client, store, [texts[0], merchantId, texts[1]]);
  });
};
