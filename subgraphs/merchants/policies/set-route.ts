/**
 * Routes to banks as operators set them: which connector serves an operation of a shop by a method,
 * in live mode.
 */
import { randomUUID } from 'node:crypto';
import { isUuid } from '../../kernel/rules/uuid.ts';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { BankRouteEntity, type BankRoute } from '../../kernel/banks/entities.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { methodsOf, type BankOperation, type RouteMethod } from '../../kernel/rules/route.ts';
import { changeWithAudit, type Acting } from '../audit.ts';
import { missing, type PolicyParts } from './change-policy.ts';

const routeColumns = columns(propertyNames(BankRouteEntity));
const routeOnce =
  'merchant_id = $1 and shop_id = $2 and mode = $3 and operation = $4 and method = $5 and connector = $6';
const before: Statement = {
  name: 'bank_route.before',
  text: `select ${routeColumns} from bank_route where ${routeOnce} for update`,
};
const upsert: Statement = {
  name: 'bank_route.set',
  text: `insert into bank_route (merchant_id, shop_id, mode, operation, method, connector, id, priority, active, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (merchant_id, shop_id, mode, operation, method, connector) do update set priority = excluded.priority, active = excluded.active
    returning ${routeColumns}`,
};
const remove: Statement = {
  name: 'bank_route.remove',
  text: `delete from bank_route where merchant_id = $1 and id = $2 returning ${routeColumns}`,
};

const priority_max = 1_000;

const told = ({ shopId, operation, method, connector, priority, active }: BankRoute) => ({
  shopId,
  operation,
  method,
  connector,
  priority,
  active,
});

export interface RouteInput {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly operation: BankOperation;
  readonly method: RouteMethod;
  readonly connector: string;
  readonly priority: number;
  readonly active: boolean;
}

const mistakeIn = ({ mode, operation, method, connector, priority }: RouteInput): string | null => {
  if (mode === 'test')
    return 'mode: in test mode the simulator serves everything; routes are for live mode';
  if (!methodsOf[operation].includes(method))
    return `method: ${operation} goes by one of ${methodsOf[operation].join(', ')}, got ${method}`;
  if (!/^[a-z][a-z0-9_-]{1,39}$/.test(connector))
    return 'connector: expected the name of a connector, such as yookassa';
  return priority >= 0 && priority <= priority_max
    ? null
    : `priority: expected an integer from 0 to ${priority_max}, got ${priority}`;
};

/**
 * Sets a route, or changes the one with the same connector. Refuses with `not_found`, or with
 * `bad_request` what no route can be.
 */
export const setRoute = async (
  { database }: PolicyParts,
  acting: Acting,
  input: RouteInput,
): Promise<BankRoute | Refused> => {
  const mistake = mistakeIn(input);
  if (mistake) return refused('bad_request', mistake);
  const { merchantId, shopId, mode, operation, method, connector, priority, active } = input;
  const id = randomUUID();
  return changeWithAudit(
    database,
    acting,
    { action: 'bank_route.set', merchantId, subject: { kind: 'bank_route', id } },
    async (client) => {
      const gone = await missing(client, merchantId, shopId);
      if (gone) return gone;
      const once = [merchantId, shopId, mode, operation, method, connector];
      const [earlier] = await run<BankRoute>(client, before, once);
      const [route] = await run<BankRoute>(client, upsert, [
        ...once,
        id,
        priority,
        active,
        acting.now(),
      ]);
      if (!route) throw new Error('an upsert gave no row');
      return { before: earlier ? told(earlier) : null, after: told(route), result: route };
    },
  );
};

/** Removes a route. Refuses with `not_found`. */
export const removeRoute = async (
  { database }: PolicyParts,
  acting: Acting,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<{ readonly id: string } | Refused> => {
  const gone = refused('not_found', 'there is no such route');
  if (!isUuid(id)) return gone;
  return changeWithAudit(
    database,
    acting,
    { action: 'bank_route.remove', merchantId, subject: { kind: 'bank_route', id } },
    async (client) => {
      const [route] = await run<BankRoute>(client, remove, [merchantId, id]);
      return route ? { before: told(route), after: null, result: { id } } : gone;
    },
  );
};

const list: Statement = {
  name: 'bank_route.list',
  text: `select ${routeColumns} from bank_route where ${behindCursor('created_at', 'id')} and merchant_id = $4 and ($5::uuid is null or shop_id = $5)
    ${newestFirst('created_at', 'id')}`,
};

/** The routes of a merchant or of one of its shops, newest first. */
export const listRoutes = (
  runner: Runner,
  {
    merchantId,
    shopId,
    ...page
  }: PageQuery & { readonly merchantId: string; readonly shopId: string | null },
): Promise<Page<BankRoute> | Refused> => readPage(runner, list, [merchantId, shopId], page);
