/**
 * Saved methods at the simulated bank. A method is its binding's own operation: it can be charged
 * once that has succeeded. Decision D-30: the amount of a charge decides its outcome; nobody is
 * there to act, so that what would require an action stays pending.
 */
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
const order: Statement = {
  name: 'simulator.charge',
  text: `insert into simulator_operation (merchant_id, operation_id, reference, outcome, failure_code, answer_at, card_brand, card_mask, card_holder, created_at)
    select $1::uuid, $2::uuid, 'sim_' || $2, $4::text, $5::text, $6::timestamptz, card_brand, card_mask, card_holder, $7::timestamptz from simulator_operation
      where merchant_id = $1 and operation_id = $3::uuid and outcome <> 'failed' and answer_at <= $7
    on conflict (merchant_id, operation_id) do nothing returning ${columns(seen)}`,
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
  const rrn = String(BigInt(`0x${operationId.slice(0, 8)}`)).padStart(12, '0');
  return {
    kind: 'approved',
    reference: ordered.reference,
    rrn,
    traits: { cardBrand, cardMask, cardHolder, phoneMask: null, payerBank: null },
  };
};

/** The saved methods of the simulator on our own database. */
export const simulatorTokens = (database: Pick<Database, 'pool'>): TokenBank => ({
  savable: ['cards', 'sbp', 'tpay'],
  charge: async (charge) => {
    const { merchantId, operationId, savedReference, planned, now } = charge;
    const boundId = savedReference.startsWith(prefix) ? savedReference.slice(prefix.length) : null;
    const outcome = planned?.outcome ?? 'succeeded';
    const values = [
      merchantId,
      operationId,
      boundId,
      outcome,
      planned?.failureCode ?? null,
      decidesAloneAt(planned, now),
      now,
    ];
    const [made] = await run<Ordered>(database.pool, order, values);
    const [ordered] = made
      ? [made]
      : await run<Ordered>(database.pool, find, [merchantId, operationId]);
    return ordered
      ? answered(ordered, charge)
      : {
          kind: 'declined',
          failureCode: 'authorization_revoked',
          bankCode: 'authorization_revoked',
        };
  },
});
