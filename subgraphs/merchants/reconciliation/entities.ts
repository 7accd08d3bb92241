/**
 * Reconciliation's tables: runs, lines of the acquirer's registries, and differences. A registry
 * belongs to the platform. A difference belongs to its operation's merchant, or to the zero
 * merchant when there is no operation.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { enums } from '../../../schema/generated/enums.ts';
import type { ReportedKind, ReportedStatus } from '../../acquirers/bank.ts';
import { instant } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';

/** `open` accepts lines, `ready` is queued for matching, `matched` is done. */
type RunStatus = (typeof enums.ReconciliationStatus)[number];

export type DifferenceKind = (typeof enums.ReconciliationDifferenceKind)[number];

/** The last operation of a kind that was read; the next ones are read behind it. */
interface ReadUpTo {
  readonly kind: ReportedKind;
  readonly at: string;
  readonly id: string;
}

/**
 * The progress of a run's matching; everything before it is stored. Lines are ordered by kind, part
 * and line. Gaps are spans not yet searched for operations missing at the bank.
 */
export type MatchProgress =
  | ({ readonly phase: 'owners' } & ReadUpTo)
  | { readonly phase: 'probe' | 'strangers'; readonly after: LinePlace }
  | {
      readonly phase: 'compare';
      readonly merchantId: string;
      readonly part: number;
      readonly line: number;
    }
  | {
      readonly phase: 'missing';
      readonly lookedSince: string;
      readonly lookedUntil: string;
      readonly gaps: readonly { readonly since: string; readonly until: string }[];
      /** The current shop, or the last finished one when `operations` is null. */
      readonly shop: { readonly merchantId: string; readonly id: string };
      readonly operations: ReadUpTo | null;
    };

/** A line's place in its run. */
export interface LinePlace {
  readonly kind: string;
  readonly part: number;
  readonly line: number;
}

export const ReconciliationRunEntity = defineEntity({
  name: 'ReconciliationRun',
  tableName: 'reconciliation_run',
  properties: {
    id: p.uuid().primary(),
    connector: p.text(),
    mode: p.text().$type<Mode>(),
    /** The registry's reference: the same reference is the same run. */
    reference: p.text(),
    since: instant(),
    until: instant(),
    status: p.text().$type<RunStatus>(),
    lines: p.integer(),
    matched: p.integer(),
    differences: p.integer(),
    createdAt: instant(),
    createdBy: p.text(),
    matchedAt: instant().strictNullable(),
    /** Null before matching begins and after it ends. */
    progress: p.json<MatchProgress>().strictNullable(),
    /**
     * The span that this run searched for operations missing at the bank; null until it is matched.
     */
    lookedSince: instant().strictNullable(),
    lookedUntil: instant().strictNullable(),
  },
});
export type ReconciliationRun = Row<InferEntity<typeof ReconciliationRunEntity>>;

/** A stored part of a registry, by the digest of its text. */
export const ReconciliationPartEntity = defineEntity({
  name: 'ReconciliationPart',
  tableName: 'reconciliation_part',
  properties: {
    runId: p.uuid().primary(),
    part: p.integer().primary(),
    digest: p.text(),
  },
});

export const ReconciliationLineEntity = defineEntity({
  name: 'ReconciliationLine',
  tableName: 'reconciliation_line',
  properties: {
    runId: p.uuid().primary(),
    part: p.integer().primary(),
    line: p.integer().primary(),
    reference: p.text(),
    operationId: p.uuid().strictNullable(),
    kind: p.text().$type<ReportedKind>(),
    amount: p.bigint(),
    currency: p.text(),
    status: p.text().$type<ReportedStatus>(),
    at: instant(),
    fee: p.bigint().strictNullable(),
    /** The operation's merchant; null until it is found, and when there is none. */
    ownerId: p.uuid().strictNullable(),
    /** Our operation; null until it is matched, and when there is none. */
    matchedId: p.uuid().strictNullable(),
  },
});

/** An operation on one side of a difference; the amount in minor units as text. */
export interface OperationSide {
  readonly amount: string;
  readonly currency: string;
  readonly status: string;
}

export const ReconciliationDifferenceEntity = defineEntity({
  name: 'ReconciliationDifference',
  tableName: 'reconciliation_difference',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    runId: p.uuid(),
    mode: p.text().$type<Mode>(),
    kind: p.text().$type<DifferenceKind>().groups('audit'),
    operation: p.text().$type<ReportedKind>().groups('audit'),
    /** As in the registry, or else as we know it; null when the registry has none. */
    operationId: p.uuid().strictNullable().groups('audit'),
    reference: p.text().strictNullable(),
    /** The operation as the registry has it; null when it does not. */
    atBank: p.json<OperationSide>().columnType('jsonb').strictNullable(),
    /** As we have it; null when we do not. */
    here: p.json<OperationSide>().columnType('jsonb').strictNullable(),
    detail: p.text(),
    foundAt: instant(),
    resolvedAt: instant().strictNullable().groups('audit'),
    resolvedBy: p.text().strictNullable(),
    note: p.text().strictNullable().groups('audit'),
  },
});
export type ReconciliationDifference = Row<InferEntity<typeof ReconciliationDifferenceEntity>>;

export const reconciliationEntities = [
  ReconciliationRunEntity,
  ReconciliationPartEntity,
  ReconciliationLineEntity,
  ReconciliationDifferenceEntity,
];
