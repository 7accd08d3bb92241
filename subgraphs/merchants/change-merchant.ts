/** Merchants as operators make and change them. Each change leaves its audit entry. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../kernel/database/orm.ts';
import { columns, propertyNames, run, type Statement } from '../kernel/database/statement.ts';
import type { Bus } from '../kernel/rules/event.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import { changeWithAudit, type Acting } from './audit.ts';
import { MerchantEntity, type Merchant } from './entities.ts';
import { nameMistake } from './rules/cabinet.ts';

const merchantColumns = columns(propertyNames(MerchantEntity));
const insertMerchant: Statement = {
  name: 'merchant.insert',
  text: `insert into merchant (id, name, live_enabled, created_at) values ($1, $2, false, $3) returning ${merchantColumns}`,
};
const lockMerchant: Statement = {
  name: 'merchant.lock',
  text: `select ${merchantColumns} from merchant where id = $1 for update`,
};
const setName: Statement = {
  name: 'merchant.set_name',
  text: `update merchant set name = $2 where id = $1 returning ${merchantColumns}`,
};
const setLive: Statement = {
  name: 'merchant.set_live',
  text: `update merchant set live_enabled = $2 where id = $1 returning ${merchantColumns}`,
};

const noMerchant = (): Refused => refused('not_found', 'there is no such merchant');
const told = ({ name, liveEnabled }: Merchant) => ({ name, liveEnabled });

/**
 * Creates a merchant. Live mode is off until an operator turns it on. Refuses a wrong name with
 * `bad_request`.
 */
export const createMerchant = async (
  database: Pick<Database, 'pool'>,
  acting: Acting,
  name: string,
): Promise<Merchant | Refused> => {
  const mistake = nameMistake('name', name);
  if (mistake) return refused('bad_request', mistake);
  const id = randomUUID();
  return changeWithAudit(
    database,
    acting,
    { action: 'merchant.create', merchantId: id, subject: { kind: 'merchant', id } },
    async (client) => {
      const [merchant] = await run<Merchant>(client, insertMerchant, [id, name, acting.now()]);
      return merchant ? { before: null, after: told(merchant), result: merchant } : noMerchant();
    },
  );
};

const changeMerchant = (
  database: Pick<Database, 'pool'>,
  acting: Acting,
  { action, merchantId }: { readonly action: string; readonly merchantId: string },
  change: (client: pg.PoolClient) => Promise<readonly Merchant[]>,
): Promise<Merchant | Refused> =>
  changeWithAudit(
    database,
    acting,
    { action, merchantId, subject: { kind: 'merchant', id: merchantId } },
    async (client) => {
      const [before] = await run<Merchant>(client, lockMerchant, [merchantId]);
      const [after] = before ? await change(client) : [];
      return before && after
        ? { before: told(before), after: told(after), result: after }
        : noMerchant();
    },
  );

/** Gives a merchant another name. Refuses with `not_found`, or a wrong name with `bad_request`. */
export const renameMerchant = async (
  database: Pick<Database, 'pool'>,
  acting: Acting,
  merchantId: string,
  name: string,
): Promise<Merchant | Refused> => {
  const mistake = nameMistake('name', name);
  if (mistake) return refused('bad_request', mistake);
  return changeMerchant(database, acting, { action: 'merchant.rename', merchantId }, (client) =>
    run(client, setName, [merchantId, name]),
  );
};

/**
 * Turns live mode on or off: without it `sk_live_` keys are refused, in every process at once.
 * Refuses with `not_found`.
 */
export const switchLive = async (
  {
    database,
    bus,
  }: { readonly database: Pick<Database, 'pool'>; readonly bus: Pick<Bus, 'publish'> },
  acting: Acting,
  merchantId: string,
  enabled: boolean,
): Promise<Merchant | Refused> => {
  const action = enabled ? 'merchant.live_enable' : 'merchant.live_disable';
  const changed = await changeMerchant(database, acting, { action, merchantId }, (client) =>
    run(client, setLive, [merchantId, enabled]),
  );
  if (!isRefused(changed)) await bus.publish('keys', { merchantId });
  return changed;
};
