/**
 * Background jobs of reconciliation: matching uploaded registries, and fetching yesterday's
 * registry from banks that provide one.
 */
import { createHash } from 'node:crypto';
import type { SettlementBank } from '../../acquirers/bank.ts';
import { forUpdate } from '../../platform/database/orm-connections.ts';
import type { Database, OnDatabase } from '../../platform/database/orm.ts';
import { periodic, sweep, type Job } from '../../platform/queue/run-job.ts';
import type { Logger } from '../../platform/tracing/telemetry.ts';
import { ReconciliationRunEntity } from './entities.ts';
import { isMatchDue, matchNext } from './match-report.ts';
import { openRun, storePart, type RegistryName } from './upload-report.ts';

interface ReconciliationDeps extends OnDatabase<'pool' | 'fork'> {
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  readonly registries: readonly SettlementBank[];
}

/** Fetching an existing registry costs one statement. */
const fetchEvery_ms = 600_000;

/** The registry of a bank's last whole UTC day. */
const yesterdayOf = ({ connector, mode }: SettlementBank, now: Temporal.Instant): RegistryName => {
  const today = now.toZonedDateTimeISO('UTC').startOfDay();
  const day = today.subtract({ days: 1 });
  return {
    connector,
    mode,
    reference: `fetched ${day.toPlainDate().toString()}`,
    since: day.toInstant(),
    until: today.toInstant(),
  };
};

/**
 * Fetches a registry into a run ready for matching, in one transaction: if the bank fails midway,
 * nothing is stored. False when it already existed.
 */
export const fetchRegistry = async (
  database: Pick<Database, 'fork'>,
  bank: SettlementBank,
  name: RegistryName,
  now: Temporal.Instant,
): Promise<boolean> => {
  const em = database.fork();
  const { connector, mode, reference } = name;
  const known = { connector, mode, reference, status: { $ne: 'open' } } as const;
  if ((await em.count(ReconciliationRunEntity, known)) > 0) return false;
  return em.transactional(async (inside) => {
    const { id } = await openRun(inside, name, 'reconciliation', now);
    const opened = await inside.findOne(
      ReconciliationRunEntity,
      { id, status: 'open' },
      { ...forUpdate, refresh: true },
    );
    if (!opened) return false;
    let part = 0;
    for await (const lines of bank.settlementReport(name)) {
      part += 1;
      const digest = createHash('sha256')
        .update(lines.map((line) => line.reference).join('\n'))
        .digest('hex');
      await storePart(inside, opened, part, digest, lines);
    }
    opened.status = 'ready';
    return true;
  });
};

export const reconciliationJobs = ({
  database,
  now,
  log,
  stopping,
  registries,
}: ReconciliationDeps): readonly Job[] => [
  sweep('match-registries', [isMatchDue], async () => {
    for (;;) {
      const matched = await matchNext(database, now(), stopping);
      if (!matched) return;
      const { connector, reference, lines, differences } = matched;
      log.info({ connector, reference, lines, differences }, 'a registry was matched');
    }
  }),
  periodic('fetch-registries', fetchEvery_ms, async () => {
    for (const bank of registries) {
      try {
        await fetchRegistry(database, bank, yesterdayOf(bank, now()), now());
      } catch (error) {
        log.error(
          { connector: bank.connector, err: error },
          'could not fetch a registry; continuing with the others',
        );
      }
    }
  }),
];
