/**
 * Reconciliation in the background: what was uploaded is matched, and yesterday's registry is
 * fetched from the banks that give one.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { SettlementBank } from '../../kernel/banks/settlement-bank.ts';
import { inTransaction, run, type Statement } from '../../kernel/database/statement.ts';
import { done, type Job } from '../../kernel/queue/run-job.ts';
import type { Logger } from '../../kernel/service/tracing/telemetry.ts';
import { matchNext } from './match-report.ts';
import { openRun, storePart, type RegistryName } from './upload-report.ts';

export interface ReconciliationParts {
  readonly pool: pg.Pool;
  readonly now: () => Temporal.Instant;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  readonly registries: readonly SettlementBank[];
}

const matchEvery_ms = 2_000;
/** Fetching a registry that is there already costs one statement. */
const fetchEvery_ms = 600_000;

const lockOpen: Statement = {
  name: 'reconciliation.lock_open',
  text: `select 1 from reconciliation_run where id = $1 and status = 'open' for update`,
};
const makeReady: Statement = {
  name: 'reconciliation.fetched',
  text: `update reconciliation_run set status = 'ready' where id = $1`,
};
const isKnown: Statement = {
  name: 'reconciliation.is_known',
  text: `select 1 from reconciliation_run where connector = $1 and mode = $2 and reference = $3 and status <> 'open'`,
};

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
 * Fetches a registry into a run that is ready to be matched, in one transaction: a bank that fails
 * half way leaves nothing. False when it was there.
 */
export const fetchRegistry = async (
  pool: pg.Pool,
  bank: SettlementBank,
  name: RegistryName,
  now: Temporal.Instant,
): Promise<boolean> => {
  if ((await run(pool, isKnown, [name.connector, name.mode, name.reference])).length > 0)
    return false;
  return inTransaction(pool, async (client) => {
    const opened = await openRun(client, name, 'reconciliation', now);
    if (!opened || (await run(client, lockOpen, [opened.id])).length === 0) return false;
    let part = 0;
    for await (const lines of bank.settlementReport(name)) {
      part += 1;
      const digest = createHash('sha256')
        .update(lines.map(({ reference }) => reference).join('\n'))
        .digest('hex');
      await storePart(client, opened.id, part, digest, lines);
    }
    await run(client, makeReady, [opened.id]);
    return true;
  });
};

/** The jobs of reconciliation. */
export const reconciliationJobs = ({
  pool,
  now,
  log,
  stopping,
  registries,
}: ReconciliationParts): readonly Job[] => [
  {
    name: 'match-registries',
    queue: 'schedules',
    every_ms: matchEvery_ms,
    run: async () => {
      for (;;) {
        const matched = stopping.aborted ? null : await matchNext(pool, now());
        if (!matched) return done;
        const { connector, reference, lines, differences } = matched;
        log.info({ connector, reference, lines, differences }, 'a registry was matched');
      }
    },
  },
  {
    name: 'fetch-registries',
    queue: 'schedules',
    every_ms: fetchEvery_ms,
    run: async () => {
      for (const bank of registries) {
        try {
          await fetchRegistry(pool, bank, yesterdayOf(bank, now()), now());
        } catch (error) {
          log.error(
            { connector: bank.connector, err: error },
            'a registry could not be fetched; the others are',
          );
        }
      }
      return done;
    },
  },
];
