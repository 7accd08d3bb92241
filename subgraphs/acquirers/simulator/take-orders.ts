/** Orders of refunds and payouts at the simulated bank, those of one moment in one statement. */
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import { decidesAloneAt, type TimedPlan } from '../../rules/banks.ts';
import type { SimulatorOperation } from '../entities.ts';

const take = sqlFile(import.meta.dirname, 'take-orders.sql');

interface TakenOrder {
  readonly merchantId: string;
  readonly operationId: string;
  readonly planned: TimedPlan | null;
  readonly now: Temporal.Instant;
}

export interface Taken extends Pick<
  SimulatorOperation,
  'operationId' | 'reference' | 'outcome' | 'failureCode' | 'answerAt'
> {
  /** Whether no order came before. */
  readonly fresh: boolean;
}

const sentRow = ({ merchantId, operationId, planned, now }: TakenOrder): object => {
  const answerAt = decidesAloneAt(planned, now);
  return {
    merchant_id: merchantId,
    operation_id: operationId,
    outcome: planned?.outcome ?? 'succeeded',
    failure_code: planned?.failureCode ?? null,
    answer_at: answerAt && rfc3339(answerAt),
    created_at: rfc3339(now),
  };
};

/** Takes an order, or finds the first with its id; null when that is being taken right now. */
export const takeOrder = batched<TakenOrder, Taken | null>({
  name: take.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: async (pool, orders) => {
    const merchantId = orders[0]?.merchantId ?? '';
    const rows = await runRows<Taken>(pool, take, merchantId, orders.map(sentRow), false);
    const found = new Map(rows.map((row) => [row.operationId, row]));
    return orders.map(({ operationId }) => found.get(operationId) ?? null);
  },
});
