/**
 * The simulated bank's holds. The last two digits of the captured amount decide the capture. An
 * index sees to it that of all orders with one hold a single one takes effect.
 */
import type pg from 'pg';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import { minorUnits } from '../../rules/money.ts';
import { lateAnswer_ms, planOfAmount } from '../../rules/banks.ts';
import type { HoldAnswer, HoldBank, HoldOrder } from '../bank.ts';
import type { SimulatorHoldOrder } from '../entities.ts';

/** How long the simulated bank holds money: 7 days. */
const hold_h = 168;

/** Until when it holds what it has authorised at a moment. */
export const heldUntil = (authorizedAt: Temporal.Instant): Temporal.Instant =>
  authorizedAt.add({ hours: hold_h });

const names = `operation_id as "operationId", kind, amount, failure_code as "failureCode", answer_at as "answerAt"`;
type Taken = Pick<
  SimulatorHoldOrder,
  'operationId' | 'kind' | 'amount' | 'failureCode' | 'answerAt'
>;

// An expired hold is released, whatever is ordered then.
const take: Statement = {
  name: 'simulator.take_hold_order',
  text: `with settled as (select ${names} from simulator_hold_order
      where merchant_id = $1 and payment_id = $3 and (operation_id = $2 or failure_code is null)),
    held as (select $8::timestamptz >= answer_at + interval '${hold_h} hours' as is_over from simulator_operation
      where merchant_id = $1 and operation_id = $3 and holds and answer_at <= $8::timestamptz),
    made as (insert into simulator_hold_order (merchant_id, operation_id, payment_id, kind, amount, failure_code, answer_at, created_at)
      select $1::uuid, $2::uuid, $3::uuid, case when is_over then 'release' else $4::text end,
        case when is_over then $9::int8 else $5::int8 end,
        case when not is_over then $6::text end, case when is_over then $8::timestamptz else $7::timestamptz end, $8::timestamptz
      from held where not exists (select 1 from settled)
      on conflict do nothing returning ${names})
    select * from made union all select * from settled`,
};

/** When a capture is answered; null: never. */
const answersAt = ({ kind, amount, now }: HoldOrder): Temporal.Instant | null => {
  const digits = kind === 'capture' ? amount % 100n : 0n;
  if (digits === 6n) return null;
  return digits === 7n ? now.add({ milliseconds: lateAnswer_ms }) : now;
};

const refusalOf = ({ kind, amount }: HoldOrder): FailureCode | null =>
  kind === 'capture' ? planOfAmount(amount).failureCode : null;

const answerTo = ({ operationId, now }: HoldOrder, taken: readonly Taken[]): HoldAnswer => {
  const mine = taken.find((one) => one.operationId === operationId) ?? taken[0];
  // Another order is in progress at this very moment.
  if (!mine) return { kind: 'unknown' };
  const { kind, amount, failureCode, answerAt } = mine;
  if (failureCode) return { kind: 'declined', failureCode, bankCode: failureCode };
  if (answerAt === null || Temporal.Instant.compare(answerAt, now) > 0)
    return { kind: 'pending', askAt: answerAt };
  return kind === 'capture'
    ? { kind: 'captured', amount: minorUnits(amount) }
    : { kind: 'released' };
};

/** The holds of the simulator on our own database. */
export const simulatorHolds = (pool: pg.Pool): Required<HoldBank> => ({
  holds: ['cards', 'tpay', 'sberpay'],
  settleHold: async (order) => {
    const { merchantId, operationId, payment, kind, amount, held, now } = order;
    const taken = await run<Taken>(pool, take, [
      merchantId,
      operationId,
      payment.operationId,
      kind,
      amount,
      refusalOf(order),
      answersAt(order),
      now,
      held,
    ]);
    return answerTo(order, taken);
  },
});
