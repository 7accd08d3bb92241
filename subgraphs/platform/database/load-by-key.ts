/**
 * Rows by their keys, in the order of the keys: entity references load with one statement for all.
 * Concurrent reads of one row share a statement, too.
 */
import pg from 'pg';
import { batched } from './batch-calls.ts';
import { runSharded, shardedByKey } from './sharding.ts';
import { run, type Runner, type Statement } from './statement.ts';
import { isUuid } from '../../rules/ids.ts';

export interface RowKey {
  readonly merchantId: string;
  readonly id: string;
}

const idsOf = (keys: readonly RowKey[]): readonly unknown[] => [keys.map(({ id }) => id)];

const nameOf = ({ merchantId, id }: RowKey): string => `${merchantId}/${id}`.toLowerCase();

/**
 * A loader of a table with the key (merchant_id, id); `columns` is what `columns()` of statement.ts
 * makes, without an alias.
 */
export const loadByKey = <Found extends RowKey>(table: string, columns: string) => {
  const one: Statement = {
    name: `${table}.load_one`,
    text: `select ${columns} from ${table} where merchant_id = $1 and id = $2`,
  };
  const many = shardedByKey(
    `${table}.load`,
    'id',
    (ofKeys) => `select ${columns} from ${table} where ${ofKeys}`,
  );
  const findOne = async (runner: Runner, { merchantId, id }: RowKey): Promise<Found | null> =>
    (await run<Found>(runner, one, [merchantId, id]))[0] ?? null;
  const findMany = async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const sane = keys.filter(({ merchantId, id }) => isUuid(merchantId) && isUuid(id));
    const rows = await runSharded<Found, RowKey>(runner, many, sane, idsOf);
    const found = new Map(rows.map((row) => [nameOf(row), row]));
    return keys.map((key) => found.get(nameOf(key)) ?? null);
  };
  const findGathered = batched<RowKey, Found | null>({
    name: one.name,
    callerOf: ({ merchantId }) => merchantId,
    run: async (pool, keys) => {
      const [key] = keys;
      return key && keys.length === 1 ? [await findOne(pool, key)] : findMany(pool, keys);
    },
  });
  return async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const [key] = keys;
    if (!key || keys.length > 1) return findMany(runner, keys);
    if (!isUuid(key.merchantId) || !isUuid(key.id)) return [null];
    return [await (runner instanceof pg.Pool ? findGathered(runner, key) : findOne(runner, key))];
  };
};
