/**
 * The verbs themselves at 16 connections: creating against pgbench with the same statement, and
 * payments that are created and succeed, all of one merchant against the same over a hundred
 * merchants: what one merchant's payments wait for at each other. Deltas are folded meanwhile, as
 * the worker does.
 */
import { setInterval } from 'node:timers';
import { openDatabase, type Database } from '../../../subgraphs/kernel/database/orm.ts';
import { foldBalances } from '../../../subgraphs/kernel/ledger/fold.ts';
import { noPolicies } from '../../support/no-policies.ts';
import { isRefused } from '../../../subgraphs/kernel/rules/refusal.ts';
import type { KeyPrincipal } from '../../../subgraphs/kernel/service/access/principal.ts';
import { entities } from '../../../subgraphs/entities.ts';
import { applyBankAnswer } from '../../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { recordPayment } from '../../../subgraphs/payments/create-payment.ts';
import { hasPgbench, pgbenchSubject } from '../pgbench.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { createStatement, freshIds, type BenchShop } from '../sent-statement.ts';
import { verbSubject } from '../verb-subject.ts';
import type { Fixture } from '../fixture.ts';

const fold_ms = 1_000;
const traits = {
  cardBrand: null,
  cardMask: null,
  cardHolder: null,
  phoneMask: null,
  payerBank: null,
};

/** The key of a shop. */
export const keyOf = (shop: BenchShop): KeyPrincipal => ({
  kind: 'key',
  keyId: shop.shopId,
  ...shop,
  mode: 'test',
  scopes: [],
});

/** Creates a payment of a key's shop; gives its id. */
export const create = async (database: Database, key: KeyPrincipal): Promise<string> => {
  const created = await recordPayment(
    database,
    noPolicies,
    key,
    { input: { amount: 10_000n, method: 'sbp' } },
    Temporal.Now.instant(),
  );
  if (isRefused(created)) throw new Error(created.message);
  return created.payment.id;
};

/**
 * The session's opening is another matter: here the payment only is where the bank's answer finds
 * it.
 */
export const toProcessing = `update payment set status = 'processing', processing_until = created_at + interval '20 minutes', version = version + 1 where merchant_id = $1 and id = $2`;

/** The simulated bank's word that a payment is paid. */
export const approved = { kind: 'approved', reference: 'bench', rrn: null, traits } as const;

const createAndSucceed = async (database: Database, key: KeyPrincipal): Promise<void> => {
  const paymentId = await create(database, key);
  await database.pool.query({
    name: 'bench.process',
    text: toProcessing,
    values: [key.merchantId, paymentId],
  });
  const paid = await applyBankAnswer(
    database,
    { merchantId: key.merchantId, paymentId },
    'simulator',
    approved,
    Temporal.Now.instant(),
  );
  if (isRefused(paid) || paid.status !== 'succeeded') throw new Error('a payment did not succeed');
};

/** Copies of the merchant's shop, each of a merchant of its own. */
const copyShop = async (
  database: Database,
  { merchantId, shopId }: BenchShop,
  merchants: number,
): Promise<readonly BenchShop[]> => {
  const { rows } = await database.pool.query<BenchShop>(
    `insert into shop select copy.* from shop cross join generate_series(1, $3::int) as n cross join lateral jsonb_populate_record(shop,
        jsonb_build_object('merchant_id', gen_random_uuid(), 'id', gen_random_uuid(), 'number', n)) as copy
      where shop.merchant_id = $1 and shop.id = $2 returning merchant_id as "merchantId", id as "shopId"`,
    [merchantId, shopId, merchants],
  );
  return rows;
};

/** The rows: creating against pgbench, and one busy merchant against a hundred. */
export const spreadRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const database = await openDatabase({ url: fixture.databaseUrl, entities, pool: connections });
  stack.defer(() => database.close());
  const shop: BenchShop = { merchantId: fixture.merchant.id, shopId: fixture.merchant.shopId };
  const rows: Row[] = [];
  const creating = verbSubject('create', fixture, [keyOf(shop)], (key) => create(database, key));
  const statement = await createStatement(shop);
  if (hasPgbench()) {
    const baseline = pgbenchSubject(
      statement,
      freshIds(statement, shop),
      fixture.databaseUrl,
      fixture.directory,
      fixture.postgres,
    );
    const { many, one } = await measureBoth([creating, baseline], bench, 'create without REST');
    rows.push(
      ...comparisonRows(
        { what: 'create without REST', subject: creating, baseline, aim: { least: 0.6 } },
        many,
        one,
        connections,
      ).slice(0, 1),
    );
  }
  const shops = await copyShop(database, shop, bench.plan.merchants);
  let folding = Promise.resolve(0);
  const timer = setInterval(
    () => (folding = folding.then(() => foldBalances(database.pool))),
    fold_ms,
  );
  stack.defer(async () => void (await folding));
  stack.defer(() => clearInterval(timer));
  const life = (key: KeyPrincipal): Promise<void> => createAndSucceed(database, key);
  const busy = verbSubject('one merchant', fixture, [keyOf(shop)], life);
  const spread = verbSubject(`${shops.length} merchants`, fixture, shops.map(keyOf), life);
  const { many, one } = await measureBoth([spread, busy], bench, 'spread');
  const what = 'create and succeed, all of one merchant';
  return [
    ...rows,
    ...comparisonRows(
      { what, subject: busy, baseline: spread, aim: { least: 0.8 } },
      many,
      one,
      connections,
    ).slice(0, 1),
  ];
};
