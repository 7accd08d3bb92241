/**
 * The simulated bank's record of its operations. Orders, and confirmations by buyers, of the same
 * moment share a statement, those of each merchant by themselves.
 */
import type pg from 'pg';
import { rfc3339 } from '../../../schema/scalars.ts';
import { batched } from '../../platform/database/batch-calls.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { runRows, sqlFile } from '../../platform/database/sql-file.ts';
import {
  propertyNames,
  rowJson,
  run,
  type Runner,
  type Statement,
} from '../../platform/database/statement.ts';
import { decidesAloneAt, type TimedPlan } from '../../rules/banks.ts';
import type { FailureCode } from '../../rules/failure-code.ts';
import {
  SimulatorHoldOrderEntity,
  SimulatorOperationEntity,
  type SimulatorOperation,
} from '../entities.ts';
import type { Recipient } from '../../rules/recipient.ts';
import type { PayoutAnswer, PayoutBank, PayoutQuestion, RecipientVerdict } from '../payout-bank.ts';
import type { SettlementBank, ReportLine } from '../bank.ts';

const names = propertyNames(SimulatorOperationEntity);

type OperationKey = Pick<SimulatorOperation, 'merchantId' | 'operationId'>;

const foundNames = [
  'reference',
  'outcome',
  'failureCode',
  'answerAt',
  'cardBrand',
  'cardMask',
  'cardHolder',
  'silentUntil',
  'holds',
] as const satisfies readonly (keyof SimulatorOperation)[];

/** What the bank knows of an operation. */
export type Found = Pick<SimulatorOperation, (typeof foundNames)[number]>;

const open = sqlFile(import.meta.dirname, 'open-operations.sql');

const insert = async (
  runner: Runner,
  operations: readonly SimulatorOperation[],
  mayWait: boolean,
): Promise<void> => {
  const rows = operations.map((operation) => rowJson(names, operation));
  await runRows(runner, open, operations[0]?.merchantId ?? '', rows, mayWait);
};

/** Records an operation in the caller's transaction; one that is there stays as it is. */
export const insertOperation = (runner: Runner, operation: SimulatorOperation): Promise<void> =>
  insert(runner, [operation], true);

/** The same by itself. */
export const openOperation = batched<SimulatorOperation, void>({
  name: open.name,
  callerOf: ({ merchantId }) => merchantId,
  run: async (pool, operations) => {
    await insert(pool, operations, operations.length === 1);
    return operations.map(() => undefined);
  },
});

/** Reads an operation; null when the bank has not seen it. */
export const findOperation = (
  runner: Runner,
  { merchantId, operationId }: OperationKey,
): Promise<Found | null> => {
  const key = { merchantId, operationId };
  return emOn(runner).findOne(SimulatorOperationEntity, key, { fields: foundNames });
};

/** What a buyer does at the bank. */
interface Confirmation extends OperationKey {
  readonly confirms: boolean;
  readonly now: Temporal.Instant;
}

const confirm = sqlFile(import.meta.dirname, 'confirm-operations.sql');

const confirmAll = async (
  pool: pg.Pool,
  confirmations: readonly Confirmation[],
): Promise<readonly (Found | 'left' | null)[]> => {
  const isAlone = confirmations.length === 1;
  const first = new Map(confirmations.toReversed().map((one) => [one.operationId, one]));
  const sent = [...first.values()].map(({ now, confirms, ...key }) => ({
    ...rowJson(['merchantId', 'operationId'], key),
    at: rfc3339(now),
    confirms,
  }));
  const merchantId = confirmations[0]?.merchantId ?? '';
  type Row = Found & Pick<OperationKey, 'operationId'>;
  const rows = await runRows<Row>(pool, confirm, merchantId, sent, isAlone);
  const found = new Map(rows.map((row) => [row.operationId, row]));
  return confirmations.map((one) => {
    const { operationId } = one;
    return (first.get(operationId) === one && found.get(operationId)) || (isAlone ? null : 'left');
  });
};

/**
 * Confirms or refuses an operation; returns the bank's state of it, null when it is unknown. A batch
 * leaves one that is locked, unknown, or confirmed twice.
 */
export const confirmOperation = batched<Confirmation, Found | null>({
  name: confirm.name,
  callerOf: ({ merchantId }) => merchantId,
  run: confirmAll,
});

// Orders of refunds and payouts at the simulated bank, those of one moment in one statement.

const take = sqlFile(import.meta.dirname, 'take-orders.sql');

interface TakenOrder {
  readonly merchantId: string;
  readonly operationId: string;
  readonly planned: TimedPlan | null;
  readonly now: Temporal.Instant;
}

interface Taken extends Pick<
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
  run: async (pool, orders) => {
    const merchantId = orders[0]?.merchantId ?? '';
    const rows = await runRows<Taken>(pool, take, merchantId, orders.map(sentRow), false);
    const found = new Map(rows.map((row) => [row.operationId, row]));
    return orders.map(({ operationId }) => found.get(operationId) ?? null);
  },
});

/** The simulated bank's name. */
export const simulatorConnector = 'simulator';

/**
 * Makes the bank answer from now on that it declined an operation, or an order about a hold, that
 * it had accepted: it exceeds a limit of the merchant's balance, which only the booking detects.
 */
export const declineSimulated = async (
  runner: Runner,
  { merchantId, operationId, failureCode }: OperationKey & { readonly failureCode: FailureCode },
): Promise<void> => {
  const key = { merchantId, operationId };
  const declined = { outcome: 'failed', failureCode } as const;
  await emOn(runner).nativeUpdate(SimulatorOperationEntity, key, declined);
  await emOn(runner).nativeUpdate(SimulatorHoldOrderEntity, key, { failureCode });
};

// The simulated bank's payouts. The amount's last two digits decide; some recipients have a fixed
// outcome, whatever the amount (docs/testing.md).

/**
 * A recipient whose order is not answered: it has arrived, and a query finds it; or it was lost on
 * the way, and the bank never saw it.
 */
type Silence = 'answer_lost' | 'order_lost';

const silences: Readonly<Record<string, Silence>> = {
  '+79000000003': 'answer_lost',
  '2200000000000053': 'answer_lost',
  '2200000000000061': 'order_lost',
};

const refusedPhones: Readonly<Record<string, FailureCode>> = {
  '+79000000001': 'recipient_not_in_sbp',
  '+79000000002': 'recipient_check_failed',
};

/** An unassigned member id and an unassigned BIK: the router does not know where to go. */
const nobody = /^0+$/;

/** A card whose payout the router loses before it is accepted. */
const unroutableCard = '2200000000000079';

const isUnroutable = (recipient: Recipient): boolean => {
  switch (recipient.way) {
    case 'sbp':
      return nobody.test(recipient.bankId);
    case 'card':
      return recipient.cardNumber === unroutableCard;
    case 'account':
      return nobody.test(recipient.bik);
  }
};

const verdictOf = (recipient: Recipient): RecipientVerdict => {
  if (isUnroutable(recipient)) return { kind: 'misrouted' };
  const failureCode = recipient.way === 'sbp' ? refusedPhones[recipient.phone] : undefined;
  return failureCode ? { kind: 'declined', failureCode, reference: null } : { kind: 'acceptable' };
};

const silenceOf = (recipient: Recipient): Silence | null =>
  recipient.way === 'account'
    ? null
    : (silences[recipient.way === 'sbp' ? recipient.phone : recipient.cardNumber] ?? null);

const answerOf = (
  operation: Pick<Found, 'reference' | 'outcome' | 'failureCode' | 'answerAt'>,
  now: Temporal.Instant,
): PayoutAnswer => {
  const { reference, outcome, failureCode, answerAt } = operation;
  if (answerAt === null || Temporal.Instant.compare(answerAt, now) > 0)
    return { kind: 'pending', reference, askAt: answerAt };
  return outcome === 'failed'
    ? { kind: 'declined', failureCode: failureCode ?? 'do_not_honor', reference }
    : { kind: 'approved', reference };
};

/** The payouts of the simulator on our own database. */
export const simulatorPayouts = (pool: pg.Pool): PayoutBank => ({
  payoutWays: ['sbp', 'card', 'account'],

  listSbpBanks: async () => [
    { memberId: '100000009999', name: 'Банк-симулятор', nameEn: 'Simulator Bank' },
  ],

  checkRecipient: async (recipient) => verdictOf(recipient),

  async pay(order): Promise<PayoutAnswer> {
    const verdict = verdictOf(order.recipient);
    if (verdict.kind !== 'acceptable') return verdict;
    const silence = silenceOf(order.recipient);
    if (silence === 'order_lost') return { kind: 'unknown' };
    const taken = await takeOrder(pool, order);
    if (!taken || (silence === 'answer_lost' && taken.fresh)) return { kind: 'unknown' };
    return answerOf(taken, order.now);
  },

  async askPayout(question: PayoutQuestion): Promise<PayoutAnswer> {
    const found = await findOperation(pool, question);
    return found ? answerOf(found, question.now) : { kind: 'unseen' };
  },
});

// The simulated bank's settlement report. Its own records hold the operations and their results; an
// operation's amount is read from its order.

const page_rows = 5_000;

/** SQL: the test bank's operation belongs to the report and follows the previous page. */
const ofPage = `done.answer_at >= $1 and done.answer_at < $2 and (done.merchant_id, done.operation_id) > ($3::uuid, $4::uuid)
          and done.outcome in ('succeeded', 'requires_action', 'failed')`;

/** A page of the report. A hold moves no money: its capture does. */
const page: Statement = {
  name: 'simulator.settlement_report',
  text: `with done as not materialized (
      select merchant_id, operation_id, reference, outcome, answer_at, null::int8 as captured from simulator_operation
        where holds is not true or outcome = 'failed'
      union all
      select merchant_id, payment_id, 'sim_' || payment_id, 'succeeded', answer_at, amount from simulator_hold_order
        where kind = 'capture' and failure_code is null),
    ordered as (
      select done.*, 'payment' as kind, payment.amount, payment.currency from done
        join payment on payment.merchant_id = done.merchant_id and payment.id = done.operation_id
        where not (payment.verification and payment.method = 'cards') and ${ofPage}
      union all
      select done.*, 'refund', refund.amount, payment.currency from done
        join refund on refund.merchant_id = done.merchant_id and refund.id = done.operation_id
        join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id
        where ${ofPage}
      union all
      select done.*, 'payout', payout.amount, payout.currency from done
        join payout on payout.merchant_id = done.merchant_id and payout.id = done.operation_id
        where ${ofPage})
    select merchant_id as "merchantId", operation_id as "operationId", reference, kind, coalesce(captured, amount) as amount, currency,
      case when outcome = 'failed' then 'failed' else 'succeeded' end as status, answer_at as at, null::int8 as fee
    from ordered order by merchant_id, operation_id limit $5`,
};

type PageLine = ReportLine & { readonly merchantId: string; readonly operationId: string };

export const simulatorReport = (runner: Runner): SettlementBank => ({
  connector: 'simulator',
  mode: 'test',
  async *settlementReport({ since, until }) {
    const zero = '00000000-0000-0000-0000-000000000000';
    let after = [zero, zero];
    for (;;) {
      const lines = await run<PageLine>(runner, page, [since, until, ...after, page_rows]);
      const last = lines.at(-1);
      if (last) yield lines;
      if (!last || lines.length < page_rows) return;
      after = [last.merchantId, last.operationId];
    }
  },
});
