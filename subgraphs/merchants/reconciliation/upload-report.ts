/**
 * Uploads an acquirer's registry: opens a run, adds its lines part by part, and queues it for
 * matching. Each step is idempotent.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { parse } from 'csv-parse/sync';
import { isCurrency } from '../../../schema/currencies.ts';
import { type ReportLine, reportedKinds, reportedStatuses } from '../../acquirers/bank.ts';
import {
  actorOf,
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../../platform/database/audit.ts';
import type { Database } from '../../platform/database/orm.ts';
import type { AuditAction } from '../../rules/audit-action.ts';
import { isUuid } from '../../rules/ids.ts';
import { largestAmount } from '../../rules/money.ts';
import { refuse, type Refusal, charactersOf, isPlainText } from '../../rules/refusal.ts';
import {
  ReconciliationLineEntity,
  ReconciliationPartEntity,
  ReconciliationRunEntity,
  type ReconciliationRun,
} from './entities.ts';
import type {
  MutationreconciliationMatchArgs,
  MutationreconciliationOpenArgs,
  MutationreconciliationPartAddArgs,
} from '../../../schema/generated/merchants.ts';

const reference_max_chars = 100;
/** Mistakes listed at once at most. */
const mistakesListed_max = 20;

/** The registry's connector and span. */
export type RegistryName = MutationreconciliationOpenArgs;

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
  const place = { runId: opened.id, part, ownerId: null, matchedId: null };
  await em.insertMany(
    ReconciliationLineEntity,
    lines.map(({ reference, operationId, kind, amount, currency, status, at, fee }, index) => ({
      ...place,
      line: index + 1,
      reference,
      operationId,
      kind,
      amount,
      currency,
      status,
      at,
      fee,
    })),
  );
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
    id: `${name.connector}/${name.reference}`,
    kind: 'registry',
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

/** Locks a run and changes it, with the change's entry. */
const changeRun = async (
  database: Uploading,
  acting: Acting,
  { action, id }: { readonly action: AuditAction; readonly id: string },
  change: (em: EntityManager, opened: ReconciliationRun) => Promise<ReconciliationRun | Refusal>,
): Promise<ReconciliationRun | Refusal> => {
  const entity = ReconciliationRunEntity;
  const noted = changing(entity, { id }, 'reconciliation', async (opened, em, notes) => {
    notes.before = auditState(opened);
    const changed = await change(em, opened);
    notes.after = auditState(opened);
    return changed;
  });
  return changeEntities(database, acting, { action, merchantId: null, id }, noted);
};

// Parses a registry uploaded by an operator: CSV with a header, one line for each operation. A text
// with any mistake is refused as a whole, with the mistakes of each line.

export const registryHeader = 'reference,operation_id,kind,amount,currency,status,at,fee';

/** What is wrong with a line. */
interface LineMistake {
  readonly line: number;
  readonly message: string;
}

const lineReference_max_chars = 255;

const amountOf = (text: string): bigint | null =>
  /^\d{1,16}$/.test(text) && BigInt(text) <= largestAmount ? BigInt(text) : null;

const momentOf = (text: string): Temporal.Instant | null => {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return null;
  }
};

/** Whitespace around a field is ignored. */
const noQuotes = 'expected fields without quotes';

/** The parsed line, or what is wrong with it. */
const readLine = (fields: readonly string[]): ReportLine | string => {
  const [
    reference = '',
    operation = '',
    kindText,
    amountText = '',
    currency = '',
    statusText,
    atText = '',
    feeText = '',
  ] = fields;
  if (fields.length !== 8) return `expected 8 fields, got ${fields.length}`;
  if (fields.some((field) => field.includes('"'))) return noQuotes;
  if (reference === '' || charactersOf(reference) > lineReference_max_chars)
    return `reference: expected 1 to ${lineReference_max_chars} characters`;
  if (operation !== '' && !isUuid(operation)) return 'operation_id: expected a UUID or nothing';
  const kind = reportedKinds.find((known) => known === kindText);
  if (!kind) return `kind: expected ${reportedKinds.join(', ')}`;
  const amount = amountOf(amountText);
  if (amount === null || amount === 0n) return 'amount: expected minor units from 1 to 2^53-1';
  if (!isCurrency(currency)) return 'currency: expected an ISO 4217 code such as RUB';
  const status = reportedStatuses.find((known) => known === statusText);
  if (!status) return `status: expected ${reportedStatuses.join(', ')}`;
  const at = momentOf(atText);
  if (!at) return 'at: expected a moment of RFC 3339';
  const fee = feeText === '' ? null : amountOf(feeText);
  if (feeText !== '' && fee === null) return 'fee: expected minor units or nothing';
  return {
    reference,
    operationId: operation === '' ? null : operation.toLowerCase(),
    kind,
    amount,
    currency,
    status,
    at,
    fee,
  };
};

/** Parses a registry; all mistakes have line numbers, the header being line 1. */
export const readRegistry = (
  csv: string,
): { readonly lines: readonly ReportLine[]; readonly mistakes: readonly LineMistake[] } => {
  const lines: ReportLine[] = [];
  const mistakes: LineMistake[] = [];
  let header: string | null = null;
  let last = 0;
  parse(csv, {
    bom: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    relax_quotes: true,
    skip_records_with_error: true,
    // An unclosed quote makes the rest of the text one field.
    on_skip: () => void mistakes.push({ line: last + 1, message: noQuotes }),
    on_record: (fields: string[], { lines: line }) => {
      last = line;
      if (header === null) {
        header = fields.join(',');
        return null;
      }
      if (fields.length === 1 && fields[0] === '') return null;
      const read = readLine(fields);
      if (typeof read === 'string') mistakes.push({ line, message: read });
      else lines.push(read);
      return null;
    },
  });
  return header === registryHeader
    ? { lines, mistakes }
    : { lines: [], mistakes: [{ line: 1, message: `expected the header ${registryHeader}` }] };
};

/**
 * Adds a part of the registry to an open run: all lines, or none when one has a mistake. Adding the
 * same part again changes nothing. Refuses with `idempotent_conflict` another text under the same
 * number, and with `bad_request` mistakes and a closed run.
 */
export const addRegistryPart = (
  database: Uploading,
  acting: Acting,
  { runId, part, csv }: MutationreconciliationPartAddArgs,
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
  { runId }: MutationreconciliationMatchArgs,
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
