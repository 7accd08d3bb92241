/**
 * Compares settlement report lines with our operations, a bounded batch of lines at a time. Each
 * merchant's operations are read by key.
 */
import { randomUUID } from 'node:crypto';
import type { ReportedKind } from '../../acquirers/bank.ts';
import { sentJson } from '../../platform/database/sql-file.ts';
import {
  columnNames,
  propertyNames,
  rowJson,
  run,
  type Statement,
} from '../../platform/database/statement.ts';
import { platformMerchantId } from '../../rules/ids.ts';
import {
  ReconciliationDifferenceEntity,
  type DifferenceKind,
  type LinePlace,
  type MatchProgress,
  type OperationSide,
} from './entities.ts';
import { firstLine, storeOwners, type Matching } from './find-owners.ts';

/*
 * Decides what is wrong with a settlement report line. A line matches our operation by its id, or
 * by the bank's reference when it has no id. Only the first difference is reported.
 */

/** A line, and how often its operation occurred earlier in the report. */
interface ComparedLine {
  readonly kind: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  /** 1 for the first line of its operation. */
  readonly copy: number;
}

/** Our operation as a report would have it. */
interface OurOperation {
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
}

/**
 * What is wrong with a line; null when nothing is. `ours` is null when there is no such operation.
 */
const wrongOf = (
  line: ComparedLine,
  ours: OurOperation | null,
): Pick<FoundDifference, 'kind' | 'detail'> | null => {
  const { kind, amount, currency, status, copy } = line;
  if (copy > 1)
    return { kind: 'duplicate', detail: `the report contains the ${kind} ${copy} times` };
  if (!ours)
    return {
      kind: 'missing_here',
      detail: `the report contains a ${kind} of ${amount} ${currency} that is unknown here`,
    };
  const money = `the ${kind} is of ${amount} ${currency} at the bank and of ${ours.amount} ${ours.currency} here`;
  if (ours.amount !== amount) return { kind: 'amount_differs', detail: money };
  if (ours.currency !== currency) return { kind: 'currency_differs', detail: money };
  if (ours.status !== status)
    return {
      kind: 'status_differs',
      detail: `the ${kind} is ${status} at the bank and ${ours.status} here`,
    };
  return null;
};

const lines_max = 1_000;
/** Counting stops here: a line that occurs more often is reported with this count. */
const copies_max = 1_000;

/** Lines of the batch that matched, lines that differ, and where matching continues. */
export interface Step {
  readonly matched: number;
  readonly differences: number;
  readonly next: MatchProgress | 'done';
}

interface Line extends ComparedLine, LinePlace {
  readonly kind: ReportedKind;
  readonly reference: string;
  readonly operationId: string | null;
  readonly merchantId: string | null;
  readonly matchedId: string | null;
}

const lineColumns = `kind, part, line, reference, operation_id as "operationId", amount, currency, status,
    owner_id as "merchantId", matched_id as "matchedId",
    (case when operation_id is null then (select count(*) from (select 1 from reconciliation_line as same
        where same.run_id = this.run_id and same.operation_id is null and same.reference = this.reference and same.kind = this.kind
          and same.matched_id is not distinct from this.matched_id and (same.part, same.line) <= (this.part, this.line) limit ${copies_max}) as copies)
      else (select count(*) from (select 1 from reconciliation_line as same
        where same.run_id = this.run_id and same.operation_id = this.operation_id and same.kind = this.kind
          and (same.part, same.line) <= (this.part, this.line) limit ${copies_max}) as copies) end)::int as copy`;

const owned: Statement = {
  name: 'reconciliation.owned_lines',
  text: `select ${lineColumns} from reconciliation_line as this
    where run_id = $1 and (owner_id, part, line) > ($2::uuid, $3, $4) order by owner_id, part, line limit $5`,
};

const unowned: Statement = {
  name: 'reconciliation.unowned_lines',
  text: `select ${lineColumns} from reconciliation_line as this
    where run_id = $1 and owner_id is null and (kind, part, line) > ($2, $3, $4) order by kind, part, line limit $5`,
};

/**
 * A merchant's operations at a bank in one mode, with the status a report would give them. A voided
 * verification moved no money and is in no report.
 */
const ours: Statement = {
  name: 'reconciliation.our_operations',
  text: `select 'payment' as kind, id, coalesce(amount_captured, amount) as amount, currency,
        case when captured_at is not null then 'succeeded' when status in ('pending', 'processing', 'authorized') then 'pending' else 'failed' end as status
      from payment where merchant_id = $1 and id = any ($2::uuid[]) and mode = $3 and connector = $4 and not (verification and method = 'cards')
    union all
    select 'refund', refund.id, refund.amount, payment.currency, refund.status
      from refund join payment on payment.merchant_id = $1 and payment.id = refund.payment_id
      where refund.merchant_id = $1 and refund.id = any ($2::uuid[]) and refund.mode = $3 and payment.connector = $4
        and not (payment.verification and payment.method = 'cards')
    union all
    select 'payout', id, amount, currency, status from payout
      where merchant_id = $1 and id = any ($2::uuid[]) and mode = $3 and connector = $4`,
};

const clear: Statement = {
  name: 'reconciliation.clear_missing',
  text: `update reconciliation_difference set resolved_at = $3, resolved_by = 'reconciliation', note = 'Found in a later registry'
    where merchant_id = $1 and operation_id = any ($2::uuid[]) and kind = 'missing_at_bank' and resolved_at is null`,
};

const names = propertyNames(ReconciliationDifferenceEntity);
const insert: Statement = {
  name: 'reconciliation.add_differences',
  text: `insert into reconciliation_difference (${columnNames(names)})
    select ${columnNames(names)} from jsonb_populate_recordset(null::reconciliation_difference, $1::jsonb)`,
};

/** A difference, ready to store. */
interface FoundDifference {
  readonly kind: DifferenceKind;
  readonly operation: ReportedKind;
  readonly operationId: string | null;
  readonly reference: string | null;
  /** The operation as the registry has it, and as we have it; null when that side does not. */
  readonly atBank: OurOperation | null;
  readonly here: OurOperation | null;
  readonly detail: string;
}

/** A side of a difference as it is stored. */
const sideOf = (side: OurOperation | null): OperationSide | null =>
  side && { amount: String(side.amount), currency: side.currency, status: side.status };

/** Stores a merchant's differences; returns their number. */
export const addDifferences = async (
  { client, ready: { id: runId, mode }, now }: Matching,
  merchantId: string,
  found: readonly FoundDifference[],
): Promise<number> => {
  const rows = found.map((difference) =>
    rowJson(names, {
      ...difference,
      atBank: sideOf(difference.atBank),
      here: sideOf(difference.here),
      merchantId,
      id: randomUUID(),
      runId,
      mode,
      foundAt: now,
    }),
  );
  if (rows.length > 0) await run(client, insert, [sentJson(rows)]);
  return rows.length;
};

type Ours = OurOperation & { readonly kind: ReportedKind; readonly id: string };

/** A merchant's operations that lines name, by kind and id. */
const operationsOf = async (
  { client, ready: { mode, connector } }: Matching,
  merchantId: string,
  lines: readonly Line[],
): Promise<ReadonlyMap<string, Ours>> => {
  const ids = lines.flatMap(({ matchedId }) => matchedId ?? []);
  const found = await run<Ours>(client, ours, [merchantId, ids, mode, connector]);
  return new Map(found.map((one) => [`${one.kind}/${one.id}`, one]));
};

/** Compares lines of one merchant, or without one; returns the matching and differing counts. */
const compareLines = async (
  matching: Matching,
  merchantId: string | null,
  lines: readonly Line[],
): Promise<{ readonly matched: number; readonly differences: number }> => {
  const operations = merchantId === null ? null : await operationsOf(matching, merchantId, lines);
  const compared = lines.map((line) => {
    const operation = operations?.get(`${line.kind}/${line.matchedId}`) ?? null;
    return { line, operation, wrong: wrongOf(line, operation) };
  });
  // An operation of another bank or mode does not belong to this report.
  const strangers = compared.filter(({ operation }) => !operation).map(({ line }) => line);
  const wronglyOwned = strangers.filter(({ matchedId }) => matchedId !== null);
  const unmatched = wronglyOwned.map((line) => ({ ...line, matchedId: null }));
  await storeOwners(matching.client, matching.ready.id, unmatched);
  const found = compared.flatMap(({ line, operation, wrong }) =>
    wrong
      ? [
          {
            ...wrong,
            operation: line.kind,
            operationId: line.operationId ?? operation?.id ?? null,
            reference: line.reference,
            atBank: line,
            here: operation,
          },
        ]
      : [],
  );
  const mine = found.filter(({ here }) => here);
  const nobodys = found.filter(({ here }) => !here);
  if (merchantId !== null && operations) {
    const ids = [...operations.values()].map(({ id }) => id);
    if (ids.length > 0) await run(matching.client, clear, [merchantId, ids, matching.now]);
    await addDifferences(matching, merchantId, mine);
  }
  await addDifferences(matching, platformMerchantId, nobodys);
  return { matched: compared.length - found.length, differences: found.length };
};

/** Compares the next lines of merchants. */
export const compareOwned = async (
  matching: Matching,
  { merchantId, part, line }: MatchProgress & { readonly phase: 'compare' },
): Promise<Step> => {
  const values = [matching.ready.id, merchantId, part, line, lines_max];
  const lines = await run<Line>(matching.client, owned, values);
  let [matched, differences] = [0, 0];
  for (const [owner, mine] of Map.groupBy(lines, (one) => one.merchantId)) {
    const step = await compareLines(matching, owner, mine);
    matched += step.matched;
    differences += step.differences;
  }
  const last = lines.at(-1);
  const next: MatchProgress =
    last?.merchantId && lines.length === lines_max
      ? { phase: 'compare', merchantId: last.merchantId, part: last.part, line: last.line }
      : { phase: 'strangers', after: firstLine };
  return { matched, differences, next };
};

/** Reports the next lines whose operation was not found; `next` is null when there are no more. */
export const compareStrangers = async (
  matching: Matching,
  { kind, part, line }: LinePlace,
): Promise<Omit<Step, 'next'> & { readonly next: LinePlace | null }> => {
  const values = [matching.ready.id, kind, part, line, lines_max];
  const lines = await run<Line>(matching.client, unowned, values);
  const counts = await compareLines(matching, null, lines);
  const last = lines.at(-1);
  const next =
    last && lines.length === lines_max
      ? { kind: last.kind, part: last.part, line: last.line }
      : null;
  return { ...counts, next };
};
