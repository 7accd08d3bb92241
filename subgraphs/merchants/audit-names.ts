/** The names of what the audit log speaks of by id: as they are now, not as they were. */
import { runSharded, type ShardedStatement } from '../platform/database/sharding.ts';
import type { Runner } from '../platform/database/statement.ts';
import { isUuid } from '../rules/ids.ts';

/** Something of a merchant. */
export interface Named {
  readonly merchantId: string;
  readonly id: string;
}

/** SQL: reads primary keys, and a merchant's few keys. `merchant` owns the thing. */
const namesOf = (about: string, merchant: string): string =>
  `select ${merchant}::uuid as "merchantId", about.id, coalesce(merchant.name, shop.name, nullif(api_key.name, ''), api_key.prefix || '...',
      webhook_endpoint.url, concat_ws(' ', payment.public_id, payment.order_id), subscription.plan_name) as name
    from ${about}
      left join merchant on merchant.id = ${merchant} and merchant.id = about.id
      left join shop on shop.merchant_id = ${merchant} and shop.id = about.id
      left join api_key on api_key.merchant_id = ${merchant} and api_key.id = about.id
      left join webhook_endpoint on webhook_endpoint.merchant_id = ${merchant} and webhook_endpoint.id = about.id
      left join payment on payment.merchant_id = ${merchant} and payment.id = about.id
      left join subscription on subscription.merchant_id = ${merchant} and subscription.id = about.id`;

const names: ShardedStatement = {
  ofAll: {
    name: 'audit.names',
    text: namesOf(
      'unnest((select $1::uuid[]), (select $2::uuid[])) as about (merchant_id, id)',
      'about.merchant_id',
    ),
  },
  ofMerchant: {
    name: 'audit.names_of_merchant',
    text: namesOf('unnest((select $2::uuid[])) as about (id)', '$1'),
  },
};

/** The name of each thing; null for what has none. */
export const findNames = async (
  runner: Runner,
  things: readonly Named[],
): Promise<(string | null)[]> => {
  const sane = things.filter(({ id }) => isUuid(id));
  const rows = await runSharded<Named & { readonly name: string | null }, Named>(
    runner,
    names,
    sane,
    (own) => [own.map(({ id }) => id)],
  );
  const found = new Map(rows.map(({ merchantId, id, name }) => [`${merchantId}/${id}`, name]));
  return things.map(({ merchantId, id }) => found.get(`${merchantId}/${id}`) || null);
};
