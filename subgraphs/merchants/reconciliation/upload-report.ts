/**
 * Uploads an acquirer's registry: opens a run, adds its lines part by part, and queues it for
 * matching. Each step is idempotent.
 */
import type { AuditAction } from '../../rules/audit-action.ts';
import { createHash, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ReportLine } from '../../acquirers/settlement-bank.ts';
import { isUuid } from '../../rules/ids.ts';
import { clientOf, forUpdate } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import { isPlainText } from '../../rules/block.ts';
import type { Mode } from '../../rules/mode.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { charactersOf } from '../../rules/texts.ts';
import {
  actorOf,
  changeEntities,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import {
  ReconciliationPartEntity,
  ReconciliationRunEntity,
  type ReconciliationRun,
} from './entities.ts';
import { readRegistry } from './report-csv.ts';

const reference_max_chars = 100;
/** Mistakes listed at once at most. */
const mistakesListed_max = 20;

/** The registry's connector and span. */
export interface RegistryName {
  readonly connector: string;
  readonly mode: Mode;
  readonly reference: string;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
}

const addLines: Statement = {
  name: 'reconciliation.add_lines',
  text: `insert into reconciliation_line (run_id, part, line, reference, operation_id, kind, amount, currency, status, at, fee)
    select $1, $2, row.* from unnest($3::int[], $4::text[], $5::uuid[], $6::text[], $7::int8[], $8::text[], $9::text[], $10::timestamptz[], $11::int8[]) as row`,
};

const nameMistake = ({ connector, reference, since, until }: RegistryName): Refusal | null => {
  const fits = (text: string): boolean =>
    isPlainText(text) && text.trim() !== '' && charactersOf(text) <= reference_max_chars;
  if (!fits(connector))
    return refuse('bad_request', `connector: expected 1 to ${reference_max_chars} characters`);
  if (!fits(reference))
    return refuse('bad_request', `reference: expected 1 to ${reference_max_chars} characters`);
  return Temporal.Instant.compare(since, until) < 0
    ? null
    : refuse('bad_request', 'until: expected a moment after since');
};

const auditState = ({ connector, mode, reference, status, lines }: ReconciliationRun) => ({
  connector,
  mode,
  reference,
  status,
  lines,
});

/** Opens a run, or returns the existing one with the same connector, mode and reference. */
export const openRun = async (
  em: EntityManager,
  name: RegistryName,
  createdBy: string,
  createdAt: Temporal.Instant,
): Promise<ReconciliationRun> => {
  const { connector, mode, reference, since, until } = name;
  const counts = { lines: 0, matched: 0, differences: 0 };
  const unlooked = { progress: null, lookedSince: null, lookedUntil: null, matchedAt: null };
  const empty = { id: randomUUID(), status: 'open', ...counts, ...unlooked } as const;
  await em
    .createQueryBuilder(ReconciliationRunEntity)
    .insert({ connector, mode, reference, since, until, ...empty, createdAt, createdBy })
    .onConflict(['connector', 'mode', 'reference'])
    .ignore()
    .execute();
  return em.findOneOrFail(ReconciliationRunEntity, { connector, mode, reference });
};

/** Stores a part's lines. */
export const storePart = async (
  em: EntityManager,
  opened: ReconciliationRun,
  part: number,
  digest: string,
  lines: readonly ReportLine[],
): Promise<void> => {
  em.create(ReconciliationPartEntity, { runId: opened.id, part, digest });
  opened.lines += lines.length;
  await em.flush();
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
  await run(await clientOf(em), addLines, [opened.id, part, ...values]);
};

type Uploading = Pick<Database, 'emOf'>;

/**
 * Opens a run for a registry. Its reference, such as the file's digest, is its idempotency key.
 * Refuses with `bad_request` and `idempotent_conflict`.
 */
export const openReconciliation = (
  database: Uploading,
  acting: Acting,
  name: RegistryName,
): Promise<ReconciliationRun | Refusal> => {
  const action: AuditedAction = {
    action: 'reconciliation.open',
    merchantId: null,
    subject: { kind: 'registry', id: `${name.connector}/${name.reference}` },
  };
  return changeEntities(database, acting, action, async (em, notes) => {
    const mistake = nameMistake(name);
    if (mistake) return mistake;
    const opened = await openRun(em, name, actorOf(acting.principal).actor, acting.now());
    const same =
      Temporal.Instant.compare(opened.since, name.since) === 0 &&
      Temporal.Instant.compare(opened.until, name.until) === 0;
    if (!same)
      return refuse(
        'idempotent_conflict',
        'reference: already used for a report of another period',
      );
    notes.after = { ...auditState(opened), runId: opened.id };
    return opened;
  });
};

const none = refuse('not_found', 'there is no such reconciliation');

/** Locks a run and changes it, with the change's entry. */
const changeRun = async (
  database: Uploading,
  acting: Acting,
  { action, id }: { readonly action: AuditAction; readonly id: string },
  change: (em: EntityManager, opened: ReconciliationRun) => Promise<ReconciliationRun | Refusal>,
): Promise<ReconciliationRun | Refusal> => {
  if (!isUuid(id)) return none;
  const subject = { kind: 'reconciliation', id };
  return changeEntities(
    database,
    acting,
    { action, merchantId: null, subject },
    async (em, notes) => {
      const opened = await em.findOne(ReconciliationRunEntity, { id }, forUpdate);
      if (!opened) return none;
      notes.before = auditState(opened);
      const changed = await change(em, opened);
      notes.after = auditState(opened);
      return changed;
    },
  );
};

/**
 * Adds a part of the registry to an open run: all lines, or none when one has a mistake. Adding the
 * same part again changes nothing. Refuses with `idempotent_conflict` another text under the same
 * number, and with `bad_request` mistakes and a closed run.
 */
export const addRegistryPart = (
  database: Uploading,
  acting: Acting,
  { runId, part, csv }: { readonly runId: string; readonly part: number; readonly csv: string },
): Promise<ReconciliationRun | Refusal> =>
  changeRun(database, acting, { action: 'reconciliation.add', id: runId }, async (em, opened) => {
    const digest = createHash('sha256').update(csv).digest('hex');
    const known = await em.findOne(ReconciliationPartEntity, { runId, part });
    if (known)
      return known.digest === digest
        ? opened
        : refuse('idempotent_conflict', `part: part ${part} already has a different text`);
    if (opened.status !== 'open')
      return refuse('bad_request', 'runId: the run accepts no more lines');
    const { lines, mistakes } = readRegistry(csv);
    const shown = mistakes
      .slice(0, mistakesListed_max)
      .map(({ line, message }) => `line ${line}: ${message}`);
    if (shown.length > 0)
      return refuse(
        'bad_request',
        `csv: lines with mistakes: ${mistakes.length}; ${shown.join('; ')}`,
      );
    if (lines.length === 0)
      return refuse('bad_request', 'csv: expected lines, got only the header');
    await storePart(em, opened, part, digest, lines);
    return opened;
  });

/**
 * Closes a run to more lines and queues it for matching, which begins within seconds. A closed run
 * is not changed.
 */
export const matchReconciliation = (
  database: Uploading,
  acting: Acting,
  runId: string,
): Promise<ReconciliationRun | Refusal> =>
  changeRun(
    database,
    acting,
    { action: 'reconciliation.match', id: runId },
    async (_em, opened) => {
      if (opened.status === 'open') opened.status = 'ready';
      return opened;
    },
  );
