/**
 * Rows by their keys, in the order of the keys: what entity references are loaded with, one
 * statement for all.
 */
import { run, type Runner, type Statement } from './statement.ts';
import { isUuid } from '../rules/uuid.ts';

export interface RowKey {
  readonly merchantId: string;
  readonly id: string;
}

/**
 * A loader of a table with the key (merchant_id, id); `columns` is what `columns()` of statement.ts
 * makes, without an alias.
 */
export const loadByKey = <Found extends RowKey>(table: string, columns: string) => {
  const one: Statement = {
    name: `${table}.load_one`,
    text: `select ${columns} from ${table} where merchant_id = $1 and id = $2`,
  };
  const many: Statement = {
    name: `${table}.load`,
    text: `select ${columns} from ${table} where (merchant_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
  };
  // PostgreSQL plans the statement with lists anew each time, which costs it four times as much as
  // reading one row.
  const find = (runner: Runner, keys: readonly RowKey[]): Promise<Found[]> => {
    const [first] = keys;
    if (first && keys.length === 1) return run<Found>(runner, one, [first.merchantId, first.id]);
    return run<Found>(runner, many, [
      keys.map(({ merchantId }) => merchantId),
      keys.map(({ id }) => id),
    ]);
  };
  return async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const sane = keys.filter(({ merchantId, id }) => isUuid(merchantId) && isUuid(id));
    const rows = await find(runner, sane);
    const found = new Map(rows.map((row) => [`${row.merchantId}/${row.id}`, row]));
    return keys.map(
      ({ merchantId, id }) => found.get(`${merchantId.toLowerCase()}/${id.toLowerCase()}`) ?? null,
    );
  };
};
