/** Rows by their keys, in the order of the keys: what entity references are loaded with, one statement for all. */
import { run, type Runner, type Statement } from './statement.ts';

export interface RowKey {
  readonly merchantId: string;
  readonly id: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all: anything else is an object that does not exist (decision D-03). */
export const isUuid = (text: string): boolean => uuid.test(text);

/** A loader of a table with the key (merchant_id, id); `columns` is what `columns()` of statement.ts makes, without an alias. */
export const loadByKey = <Found extends RowKey>(table: string, columns: string) => {
  const statement: Statement = {
    name: `load_${table}`,
    text: `select ${columns} from ${table} where (merchant_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
  };
  return async (runner: Runner, keys: readonly RowKey[]): Promise<(Found | null)[]> => {
    const sane = keys.filter(({ merchantId, id }) => isUuid(merchantId) && isUuid(id));
    const rows = await run<Found>(runner, statement, [sane.map(({ merchantId }) => merchantId), sane.map(({ id }) => id)]);
    const found = new Map(rows.map((row) => [`${row.merchantId}/${row.id}`, row]));
    return keys.map(({ merchantId, id }) => found.get(`${merchantId.toLowerCase()}/${id.toLowerCase()}`) ?? null);
  };
};
