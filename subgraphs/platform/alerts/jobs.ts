/** Publishes new alerts to operators: the job that puts them on the bus. */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/scalars.ts';
import { isNoDeadLetter, notDeadLetter, workBatch, type Subject } from './dead-letters.ts';
import { emOn } from '../database/orm-connections.ts';
import { ownersStatement, type Owner } from '../database/sql-file.ts';
import { inTransaction, run, type Statement } from '../database/statement.ts';
import { sweep, type Job } from '../queue/run-job.ts';
import type { Bus, PublishedAlert } from '../bus/bus.ts';
import { merchantOrNone } from '../../rules/ids.ts';
import { AlertEntity, type Alert } from './entities.ts';

interface AlertJobs {
  readonly pool: pg.Pool;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => Temporal.Instant;
}

const publish_max_rows = 100;

/** The task under which alerts are set aside that cannot be marked as published. */
const task = 'publish-alerts';
const notDead = notDeadLetter(task, 'alert.merchant_id', 'alert.id::text');

const findOldest = async (pool: pg.Pool): Promise<Subject | null> => {
  const unpublished = { publishedAt: null, [isNoDeadLetter(task, null)]: [] };
  const order = { fields: ['id'], orderBy: { raisedAt: 'asc' } } as const;
  const alert = await emOn(pool).findOne(AlertEntity, unpublished, order);
  return alert && { merchantId: alert.merchantId, subjectId: alert.id };
};
const owners = ownersStatement(
  'alert.owners_of_unpublished',
  `select merchant_id from alert where told_at is null and ${notDead} order by raised_at limit $1`,
);
type TakenAlert = Pick<Alert, keyof PublishedAlert>;
const take: Statement = {
  name: 'alert.take_unpublished',
  text: `update alert set told_at = $1 where merchant_id = $3 and id in
      (select id from alert where merchant_id = $3 and told_at is null and ${notDeadLetter(task, '$3', 'alert.id::text')}
        order by raised_at limit $2 for update skip locked)
    returning id, kind, merchant_id as "merchantId", shop_id as "shopId", mode, subject_id as "subjectId", detail, fields, raised_at as "raisedAt"`,
};

/** Takes the oldest of all merchants, each merchant's by a statement of its own. */
const takeOldest = async (
  client: pg.PoolClient,
  now: Temporal.Instant,
  limit: number,
): Promise<TakenAlert[]> => {
  const taken: TakenAlert[] = [];
  for (const { merchantId, count } of await run<Owner>(client, owners, [limit]))
    taken.push(...(await run<TakenAlert>(client, take, [now, count, merchantId])));
  return taken;
};

/**
 * Puts the unpublished alerts on the bus, oldest first; gives how many. What is lost on
 * the way is in the list `alerts`.
 */
export const publishAlerts = async ({ pool, bus, now }: AlertJobs): Promise<number> => {
  const { result: alerts } = await workBatch(pool, {
    task,
    limit: publish_max_rows,
    work: (limit) => inTransaction(pool, (client) => takeOldest(client, now(), limit)),
    first: () => findOldest(pool),
  });
  if (alerts.length === 0) return 0;
  const published = alerts
    .toSorted((one, other) => Temporal.Instant.compare(one.raisedAt, other.raisedAt))
    .map(({ merchantId, raisedAt, ...alert }) => ({
      ...alert,
      merchantId: merchantOrNone(merchantId),
      raisedAt: rfc3339(raisedAt),
    }));
  await bus.publish('alerts', published);
  return published.length;
};

export const alertJobs = (deps: AlertJobs): readonly Job[] => [
  sweep(
    'publish-alerts',
    [`exists (select 1 from alert where told_at is null and ${notDead})`],
    async () => {
      while ((await publishAlerts(deps)) > 0);
    },
  ),
];
