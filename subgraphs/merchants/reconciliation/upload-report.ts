/**
 * Bringing in an acquirer's registry: a run is opened, takes the lines part by part, and is given
 * to the job that matches. Each step may be repeated.
 */
import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ReportLine } from '../../kernel/banks/settlement-bank.ts';
import { isUuid } from '../../kernel/rules/uuid.ts';
import type { Database } from '../../kernel/database/orm.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../../kernel/database/statement.ts';
import { isPlainText } from '../../kernel/rules/block.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { actorOf, changeWithAudit, type Acting } from '../../kernel/database/audit.ts';
import { ReconciliationRunEntity, type ReconciliationRun } from './entities.ts';
import { readRegistry } from './report-csv.ts';

export const runColumns = columns(propertyNames(ReconciliationRunEntity));
const reference_max_chars = 100;
/** So many mistakes are listed at once. */
const mistakesListed_max = 20;

/** Whose registry of what span. */
export interface RegistryName {
  readonly connector: string;
  readonly mode: Mode;
  readonly reference: string;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
}

const open: Statement = {
  name: 'reconciliation.open',
  text: `insert into reconciliation_run (id, connector, mode, reference, since, until, status, lines, matched, differences, created_at, created_by)
    values ($1, $2, $3, $4, $5, $6, 'open', 0, 0, 0, $7, $8) on conflict (connector, mode, reference) do nothing`,
};
const byName: Statement = {
  name: 'reconciliation.by_name',
  text: `select ${runColumns} from reconciliation_run where connector = $1 and mode = $2 and reference = $3`,
};
const lock: Statement = {
  name: 'reconciliation.lock',
  text: `select ${runColumns} from reconciliation_run where id = $1 for update`,
};
const readPart: Statement = {
  name: 'reconciliation.part',
  text: 'select digest from reconciliation_part where run_id = $1 and part = $2',
};
const addPart: Statement = {
  name: 'reconciliation.add_part',
  text: 'insert into reconciliation_part (run_id, part, digest) values ($1, $2, $3)',
};
const addLines: Statement = {
  name: 'reconciliation.add_lines',
  text: `with added as (insert into reconciliation_line (run_id, part, line, reference, operation_id, kind, amount, currency, status, at, fee)
      select $1, $2, row.* from unnest($3::int[], $4::text[], $5::uuid[], $6::text[], $7::int8[], $8::text[], $9::text[], $10::timestamptz[], $11::int8[]) as row
      returning 1)
    update reconciliation_run set lines = lines + (select count(*) from added) where id = $1 returning ${runColumns}`,
};
const makeReady: Statement = {
  name: 'reconciliation.ready',
  text: `update reconciliation_run set status = 'ready' where id = $1 returning ${runColumns}`,
};

const nameMistake = ({ connector, reference, since, until }: RegistryName): Refused | null => {
  const fits = (text: string): boolean =>
    isPlainText(text) && text.trim() !== '' && text.length <= reference_max_chars;
  if (!fits(connector))
    return refused('bad_request', `connector: expected 1 to ${reference_max_chars} characters`);
  if (!fits(reference))
    return refused('bad_request', `reference: expected 1 to ${reference_max_chars} characters`);
  return Temporal.Instant.compare(since, until) < 0
    ? null
    : refused('bad_request', 'until: expected a moment after since');
};

const auditState = ({ connector, mode, reference, status, lines }: ReconciliationRun) => ({
  connector,
  mode,
  reference,
  status,
  lines,
});

/**
 * Opens a run, or gives the one that is there under the same connector, mode and reference. Null
 * when there is none although it was opened.
 */
export const openRun = async (
  runner: Runner,
  name: RegistryName,
  by: string,
  now: Temporal.Instant,
): Promise<ReconciliationRun | null> => {
  const { connector, mode, reference, since, until } = name;
  await run(runner, open, [randomUUID(), connector, mode, reference, since, until, now, by]);
  const [found] = await run<ReconciliationRun>(runner, byName, [connector, mode, reference]);
  return found ?? null;
};

/** Stores a part's lines once; gives the run, or null when this very part is there already. */
export const storePart = async (
  client: pg.PoolClient,
  runId: string,
  part: number,
  digest: string,
  lines: readonly ReportLine[],
) => {
  await run(client, addPart, [runId, part, digest]);
  const of = <Value>(value: (line: ReportLine) => Value): Value[] => lines.map(value);
  const values = [
    lines.map((_, index) => index + 1),
    of(({ reference }) => reference),
    of(({ operationId }) => operationId),
    of(({ kind }) => kind),
    of(({ amount }) => amount.toString()),
    of(({ currency }) => currency),
    of(({ status }) => status),
    of(({ at }) => at.toString()),
    of(({ fee }) => fee?.toString() ?? null),
  ];
  const [stored] = await run<ReconciliationRun>(client, addLines, [runId, part, ...values]);
  return stored ?? null;
};

type Uploading = Pick<Database, 'pool'>;

/**
 * Opens a run for a registry. Its reference, such as the file's digest, is its idempotency key.
 * Refuses with `bad_request` and `idempotent_conflict`.
 */
export const openReconciliation = (
  database: Uploading,
  acting: Acting,
  name: RegistryName,
): Promise<ReconciliationRun | Refused> => {
  const action = {
    action: 'reconciliation.open',
    merchantId: null,
    subject: { kind: 'registry', id: `${name.connector}/${name.reference}` },
  };
  return changeWithAudit<ReconciliationRun>(database, acting, action, async (client) => {
    const mistake = nameMistake(name);
    if (mistake) return mistake;
    const opened = await openRun(client, name, actorOf(acting.principal).actor, acting.now());
    if (!opened) throw new Error('a run was opened and is not there');
    const same =
      Temporal.Instant.compare(opened.since, name.since) === 0 &&
      Temporal.Instant.compare(opened.until, name.until) === 0;
    if (!same)
      return refused(
        'idempotent_conflict',
        'reference: a registry of another span was opened under it',
      );
    return { before: null, after: { ...auditState(opened), runId: opened.id }, result: opened };
  });
};

const none = refused('not_found', 'there is no such reconciliation');

const changeRun = async (
  database: Uploading,
  acting: Acting,
  { action, id }: { readonly action: string; readonly id: string },
  change: (
    client: pg.PoolClient,
    before: ReconciliationRun,
  ) => Promise<ReconciliationRun | Refused>,
): Promise<ReconciliationRun | Refused> => {
  if (!isUuid(id)) return none;
  return changeWithAudit<ReconciliationRun>(
    database,
    acting,
    { action, merchantId: null, subject: { kind: 'reconciliation', id } },
    async (client) => {
      const [before] = await run<ReconciliationRun>(client, lock, [id]);
      if (!before) return none;
      const after = await change(client, before);
      return '__typename' in after
        ? after
        : { before: auditState(before), after: auditState(after), result: after };
    },
  );
};

/**
 * Adds a part of the registry to an open run: all its lines, or none when one of them has a
 * mistake. The same part again changes nothing; another text under its number is refused with
 * `idempotent_conflict`, mistakes and a run that is closed with `bad_request`.
 */
export const addRegistryPart = (
  database: Uploading,
  acting: Acting,
  { runId, part, csv }: { readonly runId: string; readonly part: number; readonly csv: string },
): Promise<ReconciliationRun | Refused> =>
  changeRun(
    database,
    acting,
    { action: 'reconciliation.add', id: runId },
    async (client, before) => {
      const digest = createHash('sha256').update(csv).digest('hex');
      const [known] = await run<{ digest: string }>(client, readPart, [runId, part]);
      if (known)
        return known.digest === digest
          ? before
          : refused('idempotent_conflict', `part: another text is there as part ${part}`);
      if (before.status !== 'open')
        return refused('bad_request', 'runId: the run takes no more lines');
      const { lines, mistakes } = readRegistry(csv);
      const shown = mistakes
        .slice(0, mistakesListed_max)
        .map(({ line, message }) => `line ${line}: ${message}`);
      if (shown.length > 0)
        return refused(
          'bad_request',
          `csv: lines with mistakes: ${mistakes.length}; ${shown.join('; ')}`,
        );
      if (lines.length === 0)
        return refused('bad_request', 'csv: expected lines, got the header alone');
      return (await storePart(client, runId, part, digest, lines)) ?? none;
    },
  );

/**
 * Closes a run to more lines and gives it to the job that matches, which takes it within seconds. A
 * run that was given already stays as it is.
 */
export const matchReconciliation = (
  database: Uploading,
  acting: Acting,
  runId: string,
): Promise<ReconciliationRun | Refused> =>
  changeRun(
    database,
    acting,
    { action: 'reconciliation.match', id: runId },
    async (client, before) => {
      if (before.status !== 'open') return before;
      const [after] = await run<ReconciliationRun>(client, makeReady, [runId]);
      return after ?? none;
    },
  );
