/** The simulated bank's refunds. The amount's last two digits decide. */
import type pg from 'pg';
import { gathered } from '../../database/gather-calls.ts';
import { boundWait } from '../../database/idempotency.ts';
import { run, type Statement } from '../../database/statement.ts';
import { decidesAloneAt } from '../../rules/plan.ts';
import type { Bank, RefundAnswer, RefundOrder } from '../bank.ts';
import type { SimulatorOperation } from '../entities.ts';

type Taken = Pick<
  SimulatorOperation,
  'operationId' | 'reference' | 'outcome' | 'failureCode' | 'answerAt'
>;

const taken = `operation_id as "operationId", reference, outcome, failure_code as "failureCode", answer_at as "answerAt"`;

// A repeated order finds the first. One that is being taken at this very moment is not seen yet.
const take: Statement = {
  name: 'simulator.take_refunds',
  text: `with sent as materialized (select * from unnest((select $2::uuid[]), (select $3::text[]), (select $4::text[]),
        (select $5::timestamptz[]), (select $6::timestamptz[])) as sent (operation_id, planned, planned_code, decided_at, ordered_at)),
    made as (insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code, answer_at, created_at)
      select $1::uuid, operation_id, 'sim_' || operation_id, planned, planned_code, decided_at, ordered_at from sent where ${boundWait}
      on conflict (merchant_id, operation_id) do nothing returning ${taken})
    select * from made union all
    select ${taken} from simulator_operation where merchant_id = $1 and operation_id in (select operation_id from sent)`,
};

const takeAll = async (
  pool: pg.Pool,
  orders: readonly RefundOrder[],
): Promise<readonly (Taken | null)[]> => {
  const rows = await run<Taken>(pool, take, [
    orders[0]?.merchantId,
    orders.map(({ operationId }) => operationId),
    orders.map(({ planned }) => planned?.outcome ?? 'succeeded'),
    orders.map(({ planned }) => planned?.failureCode ?? null),
    orders.map(({ planned, now }) => decidesAloneAt(planned, now)),
    orders.map(({ now }) => now),
  ]);
  const found = new Map(rows.map((row) => [row.operationId, row]));
  return orders.map(({ operationId }) => found.get(operationId) ?? null);
};

const takeGathered = gathered<RefundOrder, Taken | null>({
  name: take.name,
  callerOf: ({ merchantId }) => merchantId,
  callersApart: true,
  alone: async (pool, order) => (await takeAll(pool, [order]))[0] ?? null,
  together: takeAll,
});

/** The refunds of the simulator on our own database. */
export const simulatorRefunds = (pool: pg.Pool): Pick<Bank, 'refund'> => ({
  refund: async (order): Promise<RefundAnswer> => {
    const operation = await takeGathered(pool, order);
    if (!operation) return { kind: 'unknown' };
    const { reference, outcome, failureCode, answerAt } = operation;
    if (answerAt === null || Temporal.Instant.compare(answerAt, order.now) > 0)
      return { kind: 'pending', reference, askAt: answerAt };
    if (outcome !== 'failed') return { kind: 'approved', reference };
    const code = failureCode ?? 'refund_rejected';
    return { kind: 'declined', failureCode: code, bankCode: code };
  },
});
