/**
 * Saved methods at the simulated bank. A method is its binding's own operation: it can be charged
 * once that has succeeded. The amount of a charge decides its outcome; no buyer is present, so a
 * charge that requires an action stays pending.
 */
import { batched } from '../../database/batch-calls.ts';
import { boundWait } from '../../database/idempotency.ts';
import type { Database } from '../../database/orm.ts';
import { columns, run, type Statement } from '../../database/statement.ts';
import { decidesAloneAt } from '../../rules/plan.ts';
import type { ChargeAnswer, ChargeOrder, TokenBank } from '../token-bank.ts';
import type { SimulatorOperation } from '../entities.ts';

const prefix = 'sim_saved_';

/** The simulated bank's reference of the method that an operation was paid with. */
export const simulatorSaved = (operationId: string): string => `${prefix}${operationId}`;

const seen = [
  'reference',
  'outcome',
  'failureCode',
  'answerAt',
  'cardBrand',
  'cardMask',
  'cardHolder',
] as const satisfies readonly (keyof SimulatorOperation)[];
type Ordered = Pick<SimulatorOperation, (typeof seen)[number]>;

// The order is written when its method can be charged; a repeated one changes nothing.
const takenColumns =
  'merchant_id, operation_id, reference, outcome, failure_code, answer_at, card_brand, card_mask, card_holder, created_at';
const chargeable = `outcome <> 'failed' and answer_at <=`;
const once = 'on conflict (merchant_id, operation_id) do nothing returning';

/**
 * SQL: planned outcome, failure code and moment of a charge, except for the first charge of a
 * method that refuses that one.
 */
const decided = (planned: string, code: string, at: string, now: string): string => {
  const refused = `bound.first_charge = bound.operation_id`;
  return `case when ${refused} then 'failed' else ${planned} end,
      case when ${refused} then 'insufficient_funds' else ${code} end,
      case when ${refused} then ${now} else ${at} end`;
};
const order: Statement = {
  name: 'simulator.charge',
  text: `with refused as (update simulator_operation set first_charge = $2::uuid
      where merchant_id = $1::uuid and operation_id = $3::uuid and first_charge = operation_id)
    insert into simulator_operation (${takenColumns})
    select $1::uuid, $2::uuid, 'sim_' || $2, ${decided('$4::text', '$5::text', '$6::timestamptz', '$7::timestamptz')}, card_brand, card_mask, card_holder, $7::timestamptz
      from simulator_operation as bound
      where merchant_id = $1 and operation_id = $3::uuid and ${chargeable} $7
    ${once} ${columns(seen)}`,
};
const orderMany: Statement = {
  name: 'simulator.charge_many',
  text: `with sent as materialized (select * from unnest((select $2::uuid[]), (select $3::uuid[]), (select $4::text[]), (select $5::text[]),
        (select $6::timestamptz[]), (select $7::timestamptz[])) as sent (operation_id, bound_id, planned, planned_code, decided_at, ordered_at)),
    refused as (update simulator_operation as bound set first_charge = sent.operation_id from sent
      where bound.merchant_id = $1 and bound.operation_id = sent.bound_id and bound.first_charge = bound.operation_id)
    insert into simulator_operation (${takenColumns})
    select $1::uuid, sent.operation_id, 'sim_' || sent.operation_id, ${decided('planned', 'planned_code', 'decided_at', 'ordered_at')}, card_brand, card_mask, card_holder, ordered_at
      from sent join simulator_operation as bound on bound.operation_id = sent.bound_id
      where bound.merchant_id = $1 and ${chargeable} ordered_at and ${boundWait}
    ${once} operation_id as "operationId", ${columns(seen)}`,
};
const find: Statement = {
  name: 'simulator.find_charge',
  text: `select ${columns(seen)} from simulator_operation where merchant_id = $1 and operation_id = $2`,
};

const answered = (
  { cardBrand, cardMask, cardHolder, ...ordered }: Ordered,
  { operationId, now }: ChargeOrder,
): ChargeAnswer => {
  if (ordered.answerAt === null || Temporal.Instant.compare(ordered.answerAt, now) > 0)
    return { kind: 'pending', askAt: ordered.answerAt };
  if (ordered.outcome === 'failed') {
    const failureCode = ordered.failureCode ?? 'do_not_honor';
    return { kind: 'declined', failureCode, bankCode: failureCode };
  }
  const rrn = String(BigInt(`0x${operationId.slice(-8)}`)).padStart(12, '0');
  return {
    kind: 'approved',
    reference: ordered.reference,
    rrn,
    traits: { cardBrand, cardMask, cardHolder, phoneMask: null, payerBank: null },
  };
};

const parametersOf = ({
  merchantId,
  operationId,
  savedReference,
  planned,
  now,
}: ChargeOrder): readonly unknown[] => [
  merchantId,
  operationId,
  savedReference.startsWith(prefix) ? savedReference.slice(prefix.length) : null,
  planned?.outcome ?? 'succeeded',
  planned?.failureCode ?? null,
  decidesAloneAt(planned, now),
  now,
];

/** Writes orders, those of one moment in one statement; null for one that is not new. */
const orderGathered = batched<ChargeOrder, Ordered | null>({
  name: order.name,
  callerOf: ({ merchantId }) => merchantId,
  perCaller: true,
  run: async (pool, charges) => {
    const rows = charges.map(parametersOf);
    if (rows.length === 1) return [(await run<Ordered>(pool, order, rows[0] ?? []))[0] ?? null];
    const taken = await run<Ordered & { readonly operationId: string }>(
      pool,
      orderMany,
      // The merchant, and a list of the values of each other column.
      (rows[0] ?? []).map((first, column) =>
        column === 0 ? first : rows.map((row) => row[column]),
      ),
    );
    const found = new Map(taken.map((ordered) => [ordered.operationId, ordered]));
    return charges.map(({ operationId }) => found.get(operationId) ?? null);
  },
});

/** The saved methods of the simulator on our own database. */
export const simulatorTokens = ({ pool }: Pick<Database, 'pool'>): TokenBank => ({
  savable: ['cards', 'sbp', 'tpay'],
  charge: async (charge) => {
    const { merchantId, operationId } = charge;
    const ordered =
      (await orderGathered(pool, charge)) ??
      (await run<Ordered>(pool, find, [merchantId, operationId]))[0];
    return ordered
      ? answered(ordered, charge)
      : {
          kind: 'declined',
          failureCode: 'authorization_revoked',
          bankCode: 'authorization_revoked',
        };
  },
});
