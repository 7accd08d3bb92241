/** The simulator's own records: what a bank would keep on its side. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../database/instant.ts';
import type { Row } from '../database/statement.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { PlannedOutcome } from '../rules/buyer.ts';

const moment = () => p.type(InstantType).$type<Temporal.Instant>();

export const SimulatorOperationEntity = defineEntity({
  name: 'SimulatorOperation',
  tableName: 'simulator_operation',
  properties: {
    merchantId: p.uuid().primary(),
    /** Our operation's id: the key under which a repeated call finds the first. */
    operationId: p.uuid().primary(),
    reference: p.text(),
    outcome: p.text().$type<PlannedOutcome>(),
    failureCode: p.text().$type<FailureCode>().nullable(),
    /** When the answer becomes final by itself; null: it waits for the buyer, or never comes. */
    answerAt: moment().nullable(),
    cardBrand: p.text().nullable(),
    cardMask: p.text().nullable(),
    cardHolder: p.text().nullable(),
    createdAt: moment(),
  },
});
export type SimulatorOperation = Row<InferEntity<typeof SimulatorOperationEntity>>;

export const banksEntities = [SimulatorOperationEntity];
