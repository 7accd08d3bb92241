/**
 * How tokens are written. A move reads them under their rows' locks, taken in the order of their
 * keys, so that two of these never wait for each other.
 */
import type pg from 'pg';
import { eachMerchant } from '../../platform/database/sharding.ts';
import {
  columns,
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { eventRow, insertEvents } from '../../platform/events/outbox.ts';
import { tokenEvents } from '../recurring-view.ts';
import { TokenEntity, type Token } from '../entities.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';

const names = propertyNames(TokenEntity);

const insert: Statement = {
  name: 'token.insert',
  text: 'insert into token select * from json_populate_recordset(null::token, $1::json)',
};

/** Writes a new token. */
export const insertToken = async (runner: Runner, token: Token): Promise<void> => {
  await run(runner, insert, [JSON.stringify([rowJson(names, token)])]);
};

/** Merchants in one order, so that two transactions never wait for each other. */
const inOrder = (keys: readonly RowKey[]): readonly RowKey[] =>
  keys.toSorted((one, other) => (one.merchantId < other.merchantId ? -1 : 1));

const lock: Statement = {
  name: 'token.lock',
  text: `select ${columns(names)} from token where merchant_id = $1 and id = any ($2::uuid[]) order by id for update`,
};

/**
 * The existing tokens of these keys, locked until the transaction ends.
 */
export const lockTokens = (client: pg.PoolClient, keys: readonly RowKey[]): Promise<Token[]> =>
  eachMerchant(inOrder(keys), (own, merchantId) =>
    run<Token>(client, lock, [merchantId, own.map(({ id }) => id)]),
  );

const share: Statement = {
  name: 'token.share',
  text: `select ${columns(names)} from token where merchant_id = $1 and id = $2 for share`,
};

/**
 * A token that cannot change until the transaction ends, under a lock that others may share; null when there
 * is none.
 */
export const shareToken = async (
  client: pg.PoolClient,
  { merchantId, id }: RowKey,
): Promise<Token | null> => (await run<Token>(client, share, [merchantId, id]))[0] ?? null;

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

const noteCharge: Statement = {
  name: 'token.note_charge',
  text: `update token set last_charged_at = $3 where merchant_id = $1 and id = $2 and (last_charged_at is null or last_charged_at < $3)`,
};

/** Writes when a token was last charged, unless a later charge has been written. */
export const noteTokenCharge = async (
  runner: Runner,
  { merchantId, id }: RowKey,
  at: Temporal.Instant,
): Promise<void> => {
  await run(runner, noteCharge, [merchantId, id, at]);
};

const remove: Statement = {
  name: 'token.remove',
  text: `delete from token where merchant_id = $1 and id = $2 and status = 'pending'`,
};

/** Removes a token that was never handed out: payments refused to bind it. */
export const removeToken = async (runner: Runner, { merchantId, id }: RowKey): Promise<void> => {
  await run(runner, remove, [merchantId, id]);
};
