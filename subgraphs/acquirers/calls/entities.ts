/** The tables of calls to banks: each call about an operation, and the outcome of all of them. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { BreakerState, BankOperation, RouteMethod } from '../../rules/banks.ts';
import type { Mode } from '../../rules/mode.ts';

/**
 * One call to a bank about an operation: the request and the answer, as far as the port names them.
 * Never a card, a recipient or a secret.
 */
export const BankCallEntity = defineEntity({
  name: 'BankCall',
  tableName: 'bank_call',
  properties: {
    merchantId: p.uuid().primary(),
    /** The operation as the bank knows it: a payment, a refund, a payout, or a hold's order. */
    subjectId: p.uuid().primary(),
    id: p.uuid().primary(),
    connector: p.text(),
    /** The call of the port: `openSession`, `ask`, `refund`... */
    call: p.text(),
    amount: p.bigint().strictNullable(),
    currency: p.text().strictNullable(),
    /** The kind of the answer, or `threw`. */
    answer: p.text(),
    /** The bank's reference, where the answer has one. */
    reference: p.text().strictNullable(),
    failureCode: p.text().strictNullable(),
    bankCode: p.text().strictNullable(),
    duration_ms: p.integer(),
    /** When it was made, by the operation's time. Its partition. */
    createdAt: p.type(InstantType).$type<Temporal.Instant>().primary(),
  },
});
export type BankCall = Row<InferEntity<typeof BankCallEntity>>;

/**
 * The outcome of one process's calls to a bank in five minutes. The platform's own: no merchant, no
 * operation.
 */
const BankHealthEntity = defineEntity({
  name: 'BankHealth',
  tableName: 'bank_health',
  properties: {
    /** When the five minutes began, in real time. */
    at: p.type(InstantType).$type<Temporal.Instant>().primary(),
    connector: p.text().primary(),
    mode: p.text().$type<Mode>().primary(),
    operation: p.text().$type<BankOperation>().primary(),
    /** Empty where a call does not name it. */
    method: p.text().$type<RouteMethod | ''>().primary(),
    /** A process, from its start to its end. */
    process: p.text().primary(),
    calls: p.integer(),
    /** Of them, those without an answer. */
    failures: p.integer(),
    /** How long its last answers took, oldest first; at most `durationsKept`. */
    durations_ms: p.array(Number).columnType('int[]'),
    /** The breaker of the process when the row was written; null: the bank has none. */
    breaker: p.text().$type<BreakerState>().strictNullable(),
    /** Since when it is not closed. */
    breakerSince: p.type(InstantType).$type<Temporal.Instant>().strictNullable(),
    flushedAt: p.type(InstantType).$type<Temporal.Instant>(),
  },
});

export const callsEntities = [BankCallEntity, BankHealthEntity];
