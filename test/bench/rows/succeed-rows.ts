/**
 * Payments that succeed, at 16 connections: the verb that applies a bank's answer against pgbench
 * with the very same statements, caught on their way to the database. Each round of either has as
 * many payments as the other's, made beforehand, and afterwards all of them must have succeeded.
 */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { openDatabase, type Database } from '../../../subgraphs/kernel/database/orm.ts';
import { isRefused } from '../../../subgraphs/kernel/rules/refusal.ts';
import { entities } from '../../../subgraphs/entities.ts';
import { applyBankAnswer } from '../../../subgraphs/payments/bank-answers/apply-bank-answer.ts';
import { findPayment, type PaymentInHand } from '../../../subgraphs/payments/store-payment.ts';
import { hasPgbench, scriptsSubject } from '../pgbench.ts';
import { connections, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { measureInRounds, type Subject } from '../rounds.ts';
import { statementText, type SentStatement } from '../sent-statement.ts';
import { approved, create, keyOf, toProcessing } from './spread-rows.ts';
import { verbSubject } from '../verb-subject.ts';
import type { Fixture } from '../fixture.ts';

/** Issue: over what PostgreSQL alone does with the same statements, at least. */
const ratio_min = 0.6;

/** The n-th of the payments that are there to succeed. */
const idOf = (n: number): string => `b0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const idInSql = (n: string): string =>
  `('b0000000-0000-4000-8000-' || lpad((${n})::text, 12, '0'))`;

/** Makes `count` payments that wait for the bank's word, as copies of one. */
const fill = async (
  database: Database,
  fixture: Fixture,
  count: number,
): Promise<PaymentInHand> => {
  const { id: merchantId, shopId } = fixture.merchant;
  const paymentId = await create(database, keyOf({ merchantId, shopId }));
  await database.pool.query(toProcessing, [merchantId, paymentId]);
  await database.pool.query(
    `insert into payment select copy.* from payment cross join generate_series(0, $3::int - 1) as n cross join lateral jsonb_populate_record(payment,
        jsonb_build_object('id', ${idInSql('n')}, 'public_id', 'P-' || (900000000 + n))) as copy
      where payment.merchant_id = $1 and payment.id = $2`,
    [merchantId, paymentId, count],
  );
  await database.pool.query('vacuum (analyze) payment');
  const inHand = await findPayment(
    database.pool,
    { merchantId, paymentId: idOf(0) },
    Temporal.Now.instant(),
  );
  if (!inHand) throw new Error('the payments are not there');
  return inHand;
};

/** What the verb sends for one payment, which is answered as the database would. */
const catchStatements = async ({
  payment,
  rateBps,
}: PaymentInHand): Promise<readonly SentStatement[]> => {
  const sent: SentStatement[] = [];
  const pool = {
    query: async (statement: SentStatement) => {
      sent.push(statement);
      return { rows: sent.length === 1 ? [{ ...payment, rateBps }] : [{}] };
    },
  };
  // All that the statements' own code asks of a pool is `query`.
  const database = { pool } as unknown as Database;
  const key = { merchantId: payment.merchantId, paymentId: payment.id };
  const paid = await applyBankAnswer(database, key, 'simulator', approved, Temporal.Now.instant());
  if (isRefused(paid) || paid.status !== 'succeeded') throw new Error('a payment did not succeed');
  return sent;
};

/**
 * The script of one success. Each connection of pgbench counts its own payments; `first` is where
 * those of a run begin, `share` how many each connection has.
 */
const scriptOf = async (inHand: PaymentInHand): Promise<string> => {
  const { id, merchantId, shopId, terminalId } = inHand.payment;
  const replacing = { [id]: idInSql(':n') };
  const statements = (await catchStatements(inHand)).map((statement) =>
    statementText(statement, [merchantId, shopId, terminalId], replacing),
  );
  return [
    '\\set done :done + 1',
    '\\set n :first + :client_id * :share + :done - 1',
    ...statements.map((text) => `${text};`),
  ].join('\n');
};

/** How many payments have succeeded from one on. */
const succeeded = async (
  pool: Pool,
  fixture: Fixture,
  first: number,
  count: number,
): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from payment where merchant_id = $1 and id >= $2 and id < $3 and status = 'succeeded'`,
    [fixture.merchant.id, idOf(first), idOf(first + count)],
  );
  return rows[0]?.count ?? 0;
};

/** Both as subjects that take their payments from the same stock. */
const openSubjects = (
  database: Database,
  fixture: Fixture,
  script: string,
  counts: readonly [many: number, one: number],
) => {
  let next = 0;
  const stocked = (name: string, measure: (first: number) => Subject): Subject => ({
    name,
    measure: async (load) => {
      const count = load.connections === 1 ? counts[1] : counts[0];
      const first = next;
      next += count;
      const sample = await measure(first).measure({
        ...load,
        duration_ms: Number.MAX_SAFE_INTEGER,
        requests_max: count,
      });
      const paid = await succeeded(database.pool, fixture, first, count);
      if (paid !== count) throw new Error(`${name}: ${paid} of ${count} payments succeeded`);
      return sample;
    },
  });
  const verb = stocked('payments that succeed', (first) => {
    const keys = Array.from({ length: counts[0] }, (_, index) => ({
      merchantId: fixture.merchant.id,
      paymentId: idOf(first + index),
    }));
    return verbSubject('', fixture, keys, (key) =>
      applyBankAnswer(database, key, 'simulator', approved, Temporal.Now.instant()),
    );
  });
  const pgbench = stocked('pgbench', (first) => {
    const variables = (share: number): readonly string[] => [
      '-D',
      'done=0',
      '-D',
      `first=${first}`,
      '-D',
      `share=${share}`,
    ];
    const scripts = { texts: [script], name: `succeed-${randomUUID()}`, counted: true };
    return {
      name: '',
      measure: (load) => {
        const share = Math.ceil((load.requests_max ?? 0) / load.connections);
        return scriptsSubject(
          { ...scripts, variables: variables(share) },
          fixture.databaseUrl,
          fixture.directory,
          fixture.postgres,
        ).measure(load);
      },
    };
  });
  return { verb, pgbench };
};

/** The rows. */
export const succeedRows = async (
  fixture: Fixture,
  { plan, progress }: Bench,
): Promise<readonly Row[]> => {
  const what = 'succeed without REST';
  if (!hasPgbench())
    return [
      {
        what,
        against: 'pgbench',
        ratio: null,
        aim: { least: ratio_min },
        rounds: 0,
        figures: 'skipped: there is no pgbench in PATH',
      },
    ];
  await using stack = new AsyncDisposableStack();
  const database = await openDatabase({ url: fixture.databaseUrl, entities, pool: connections });
  stack.defer(() => database.close());
  const counts = [plan.succeedRequests, Math.ceil(plan.succeedRequests / connections)] as const;
  const total = 2 * ((plan.many.rounds + 1) * counts[0] + plan.one.rounds * counts[1]);
  progress(`succeed: making ${total.toLocaleString('en')} payments that wait for the bank`);
  const inHand = await fill(database, fixture, total);
  const { verb, pgbench } = openSubjects(database, fixture, await scriptOf(inHand), counts);
  const say = (text: string): void => progress(`succeed: ${text}`);
  const subjects = [verb, pgbench];
  const many = await measureInRounds(
    subjects,
    { ...plan.many, warmUp: { duration_ms: 0, requests_max: counts[0] } },
    say,
  );
  const one = await measureInRounds(subjects, plan.one, say);
  return comparisonRows(
    { what, subject: verb, baseline: pgbench, aim: { least: ratio_min } },
    many,
    one,
    connections,
  );
};
