/**
 * Shops, which are also terminals, as the cabinet makes and changes them. Each change leaves its
 * audit entry; secrets are shown once and kept encrypted.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { ShopEntity, type Shop } from '../../kernel/database/entities.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { columns, propertyNames, run, type Statement } from '../../kernel/database/statement.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { seal } from '../../kernel/service/access/vault.ts';
import type { ShopKey } from '../keys/api-keys.ts';
import { changeWithAudit, type Acting } from '../audit.ts';
import { makeWebhookSecret } from '../keys/rules.ts';
import { nameMistake, overlapEnd, overlapMistake, shopsPerMerchant_max } from '../rules/cabinet.ts';
import type { Keys } from '../../kernel/service/access/keys.ts';

export interface ShopParts {
  readonly database: Pick<Database, 'pool' | 'emOf'>;
  readonly vaultKey: Keys;
}

/** A secret as it is shown once, and until when the one before it signs too. */
export interface Rotated {
  readonly secret: string;
  readonly previousUntil: Temporal.Instant | null;
}

const shopColumns = columns(propertyNames(ShopEntity));
// The merchant's row is locked first, and the shops are counted in a statement of its own: it sees
// those created meanwhile.
const lockMerchant: Statement = {
  name: 'shop.lock_merchant',
  text: 'select id from merchant where id = $1 for update',
};
const countShops: Statement = {
  name: 'shop.count',
  text: 'select count(*)::int as shops from shop where merchant_id = $1',
};
const insertShop: Statement = {
  name: 'shop.insert',
  text: `insert into shop (merchant_id, id, name, terminal_id, terminal_name, webhook_secret_sealed, created_at)
    values ($1, $2, $3, $4, $5, $6, $7) returning ${shopColumns}`,
};
const lockShop: Statement = {
  name: 'shop.lock_names',
  text: `select ${shopColumns} from shop where merchant_id = $1 and id = $2 for update`,
};
const setNames: Statement = {
  name: 'shop.set_names',
  text: `update shop set name = $3, terminal_name = coalesce($4, terminal_name) where merchant_id = $1 and id = $2 returning ${shopColumns}`,
};
const setSecret: Statement = {
  name: 'shop.set_secret',
  text: `update shop set webhook_secret_sealed = $3, previous_webhook_until = $4,
      previous_webhook_secret_sealed = case when $4::timestamptz is not null then webhook_secret_sealed end
    where merchant_id = $1 and id = $2 returning ${shopColumns}`,
};

const noShop = (): Refused => refused('not_found', 'there is no such shop');
const told = ({ name, terminalName }: Shop) => ({ name, terminalName });

/**
 * Creates a shop with its terminal and its own webhook secret (decision D-71). Refuses with
 * `not_found` without the merchant, and a wrong name or one shop too many with `bad_request`.
 */
export const createShop = async (
  { database, vaultKey }: ShopParts,
  acting: Acting,
  input: {
    readonly merchantId: string;
    readonly name: string;
    readonly terminalName?: string | null | undefined;
  },
): Promise<Shop | Refused> => {
  const { merchantId, name } = input;
  const terminalName = input.terminalName ?? name;
  const mistake = nameMistake('name', name) ?? nameMistake('terminalName', terminalName);
  if (mistake) return refused('bad_request', mistake);
  const id = randomUUID();
  return changeWithAudit(
    database,
    acting,
    { action: 'shop.create', merchantId, subject: { kind: 'shop', id } },
    async (client) => {
      const [merchant] = await run(client, lockMerchant, [merchantId]);
      if (!merchant) return refused('not_found', 'there is no such merchant');
      const [counted] = await run<{ shops: number }>(client, countShops, [merchantId]);
      if (!counted || counted.shops >= shopsPerMerchant_max)
        return refused('bad_request', `a merchant has at most ${shopsPerMerchant_max} shops`);
      const sealed = seal(vaultKey, makeWebhookSecret(randomBytes(32)));
      const [shop] = await run<Shop>(client, insertShop, [
        merchantId,
        id,
        name,
        randomUUID(),
        terminalName,
        sealed,
        acting.now(),
      ]);
      return shop ? { before: null, after: told(shop), result: shop } : noShop();
    },
  );
};

/**
 * Gives a shop, and its terminal when `terminalName` is there, another name; payments keep the
 * names that they were created with.
 */
export const renameShop = async (
  { database }: Pick<ShopParts, 'database'>,
  acting: Acting,
  { merchantId, shopId }: ShopKey,
  {
    name,
    terminalName = null,
  }: { readonly name: string; readonly terminalName?: string | null | undefined },
): Promise<Shop | Refused> => {
  const mistake =
    nameMistake('name', name) ??
    (terminalName === null ? null : nameMistake('terminalName', terminalName));
  if (mistake) return refused('bad_request', mistake);
  if (!isUuid(shopId)) return noShop();
  return changeWithAudit(
    database,
    acting,
    { action: 'shop.rename', merchantId, subject: { kind: 'shop', id: shopId } },
    async (client) => {
      const [before] = await run<Shop>(client, lockShop, [merchantId, shopId]);
      const [after] = await run<Shop>(client, setNames, [merchantId, shopId, name, terminalName]);
      return before && after
        ? { before: told(before), after: told(after), result: after }
        : noShop();
    },
  );
};

/**
 * Makes a new shop-level webhook secret (decision D-73). The old one stops at once, or signs beside
 * the new one for `overlapHours` (at most 24). Refuses with `not_found`, or a wrong overlap with
 * `bad_request`.
 */
export const rotateShopSecret = async (
  { database, vaultKey }: ShopParts,
  acting: Acting,
  { merchantId, shopId }: ShopKey,
  overlapHours: number,
): Promise<Rotated | Refused> => {
  const mistake = overlapMistake(overlapHours, 'v2');
  if (mistake) return refused('bad_request', mistake);
  if (!isUuid(shopId)) return noShop();
  const subject = { kind: 'shop', id: shopId };
  return changeWithAudit(
    database,
    acting,
    { action: 'shop.webhook_secret_rotate', merchantId, subject },
    async (client) => {
      const secret = makeWebhookSecret(randomBytes(32));
      const previousUntil = overlapEnd(acting.now(), overlapHours);
      const [shop] = await run<Shop>(client, setSecret, [
        merchantId,
        shopId,
        seal(vaultKey, secret),
        previousUntil,
      ]);
      return shop
        ? { before: null, after: { previousUntil }, result: { secret, previousUntil } }
        : noShop();
    },
  );
};
