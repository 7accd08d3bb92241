/**
 * A merchant with one of everything that the books know: paid, returned, reserved, paid out,
 * settled and notified.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import { inTransaction } from '../../subgraphs/platform/database/statement.ts';
import { bookPostings } from '../../subgraphs/ledger/balance.ts';
import { noPolicies } from '../support/no-policies.ts';
import { minorUnits } from '../../subgraphs/rules/money.ts';
import { adjustmentRecorded } from '../../subgraphs/rules/postings.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { numberAtOnce } from '../../subgraphs/platform/events/relay.ts';
import { askBank } from '../../subgraphs/payments/bank-answers/ask-bank.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import type { Payment } from '../../subgraphs/payments/entities.ts';
import { openSession } from '../../subgraphs/payments/checkout/open-session.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { payoutOpened, payoutSucceeded } from '../../subgraphs/payouts/rules/payout.ts';
import type { MigratedDatabase } from '../support/migrated.ts';
import { granted } from '../support/granted.ts';

export const start = Temporal.Instant.from('2026-11-21T10:00:00Z');

const adjust = (
  pool: pg.Pool,
  { merchantId, shopId, mode }: KeyPrincipal,
  amount: bigint,
  inFavour: boolean,
  at = start,
): Promise<void> => {
  const source = {
    merchantId,
    shopId,
    mode,
    currency: 'RUB',
    sourceKind: 'adjustment',
    sourceId: randomUUID(),
    paymentId: null,
    payoutId: null,
  } as const;
  return bookPostings(
    pool,
    { ...source, description: 'Correction', at },
    adjustmentRecorded({ amount: minorUnits(amount), inFavour }),
  );
};
/** Writes a payout with its postings; a pending one has only been set aside. */
const payOut = async (
  pool: pg.Pool,
  { merchantId, shopId, mode }: KeyPrincipal,
  amount: bigint,
  status: 'pending' | 'succeeded',
): Promise<string> => {
  const id = randomUUID();
  const amounts = { amount: minorUnits(amount), fee: minorUnits(7n) };
  const source = {
    merchantId,
    shopId,
    mode,
    currency: 'RUB',
    sourceKind: 'payout',
    sourceId: id,
    paymentId: null,
    payoutId: id,
    description: '',
  } as const;
  const postings = [
    ...payoutOpened(amounts),
    ...(status === 'succeeded' ? payoutSucceeded(amounts) : []),
  ];
  await inTransaction(pool, async (client) => {
    await client.query(
      `insert into payout (merchant_id, id, shop_id, terminal_id, mode, amount, currency, method, status, recipient_phone, recipient_bank_id, created_at, completed_at, fee, bank_ref, connector)
       values ($1, $2, $3, $3, $4, $5, 'RUB', 'payouts_sbp', $6, '+79990000000', '100000000004', $7, case $6 when 'pending' then null::timestamptz else $7 end, 7, 'sim_' || $2::uuid, 'simulator')`,
      [merchantId, id, shopId, mode, amount.toString(), status, start.toString()],
    );
    await client.query(
      `insert into simulator_operation (merchant_id, operation_id, reference, outcome, answer_at, created_at)
       values ($1, $2, 'sim_' || $2::uuid, $3, case $3 when 'succeeded' then $4::timestamptz end, $4)`,
      [merchantId, id, status, start.toString()],
    );
    await bookPostings(client, { ...source, at: start }, postings);
  });
  return id;
};

type Rest<Verb> = Verb extends (pool: pg.Pool, ...rest: infer Given) => unknown ? Given : never;

/** The verbs of one migrated database. */
export const openHistory = ({ database }: MigratedDatabase) => {
  const { pool } = database;
  const banks = openBanks(openSimulator(database), pool);
  const pay = async (key: KeyPrincipal, amount: bigint, at = start): Promise<Payment> => {
    const input = { amount, method: 'sbp', webhookUrl: 'https://shop.example/hook' } as const;
    const { payment } = granted(await recordPayment(database, noPolicies, key, { input }, at));
    const paymentKey = { merchantId: key.merchantId, paymentId: payment.id };
    granted(
      await openSession(database, banks, noPolicies, {
        key: paymentKey,
        card: null,
        pageUrl: 'https://pay.example/p',
        now: at,
      }),
    );
    return granted(await askBank(database, banks, paymentKey, at.add({ minutes: 1 })));
  };
  const refund = async (
    key: KeyPrincipal,
    paymentId: string,
    amount: bigint,
    at = start.add({ minutes: 2 }),
  ): Promise<string> =>
    granted(
      await refundPayment(
        database,
        banks,
        key,
        { paymentId, amount, reason: 'One ticket', idempotency: null },
        at,
      ),
    ).refund.id;
  /** What the relay does: a number for each event, and its deliveries. */
  const relay = async (): Promise<void> => {
    const numberSome = numberAtOnce(pool);
    while (await numberSome(100));
  };
  return {
    pay,
    refund,
    adjust: (...given: Rest<typeof adjust>) => adjust(pool, ...given),
    payOut: (...given: Rest<typeof payOut>) => payOut(pool, ...given),
    relay,
  };
};
export type History = ReturnType<typeof openHistory>;
