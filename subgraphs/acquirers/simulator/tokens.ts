/**
 * Saved methods at the simulated bank. A method is its binding's own operation: it can be charged
 * once that has succeeded. The amount of a charge decides its outcome; no buyer is present, so a
 * charge that requires an action stays pending.
 */
import { batched } from '../../platform/database/batch-calls.ts';
import type { Database } from '../../platform/database/orm.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import { rfc3339 } from '../../../schema/rfc3339.ts';
import { decidesAloneAt } from '../../rules/banks.ts';
import type { ChargeAnswer, ChargeOrder, TokenBank } from '../bank.ts';
import { findOperation, type Found } from './operations.ts';

const prefix = 'sim_saved_';

/** The simulated bank's reference of the method that an operation was paid with. */
export const simulatorSaved = (operationId: string): string => `${prefix}${operationId}`;

type Ordered = Omit<Found, 'silentUntil' | 'holds'>;

const order = sqlFile(import.meta.dirname, 'charge-methods.sql');
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

const sentRow = ({ merchantId, operationId, savedReference, planned, now }: ChargeOrder) => {
  const decidedAt = decidesAloneAt(planned, now);
  return {
    merchant_id: merchantId,
    operation_id: operationId,
    bound_id: savedReference.startsWith(prefix) ? savedReference.slice(prefix.length) : null,
    planned: planned?.outcome ?? 'succeeded',
    planned_code: planned?.failureCode ?? null,
    decided_at: decidedAt && rfc3339(decidedAt),
    ordered_at: rfc3339(now),
  };
};

/** Writes orders, those of one moment in one statement; null for one that is not new. */
const orderGathered = batched<ChargeOrder, Ordered | null>({
  name: order.name,
  callerOf: ({ merchantId }) => merchantId,
  run: async (pool, charges) => {
    const merchantId = charges[0]?.merchantId ?? '';
    const rows = charges.map(sentRow);
    type Row = Ordered & { readonly operationId: string };
    const taken = await runRows<Row>(pool, order, merchantId, rows, charges.length === 1);
    const found = new Map(taken.map((ordered) => [ordered.operationId, ordered]));
    return charges.map(({ operationId }) => found.get(operationId) ?? null);
  },
});

/** The saved methods of the simulator on our own database. */
export const simulatorTokens = ({ pool }: Pick<Database, 'pool'>): TokenBank => ({
  savable: ['cards', 'sbp', 'tpay'],
  charge: async (charge) => {
    const ordered = (await orderGathered(pool, charge)) ?? (await findOperation(pool, charge));
    return ordered
      ? answered(ordered, charge)
      : {
          kind: 'declined',
          failureCode: 'authorization_revoked',
          bankCode: 'authorization_revoked',
        };
  },
});
