/**
 * The statements that create a payout, caught on their way to the database and written down for
 * pgbench: the very same texts, in the same transaction.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { pino } from 'pino';
import { openBanks } from '../../subgraphs/kernel/banks/route.ts';
import { openSimulator } from '../../subgraphs/kernel/banks/simulator/simulator.ts';
import type { Database } from '../../subgraphs/kernel/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import { scopes } from '../../subgraphs/kernel/service/access/principal.ts';
import { createPayout } from '../../subgraphs/payouts/create-payout.ts';
import { statementText, type BenchShop } from './sent-statement.ts';

/** What is paid out. */
export const payoutBody = {
  amount: 10_000,
  phone: '+79161234567',
  bank_id: '100000000111',
  full_name: 'Ivan Petrov',
};

interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
}

const terminalId = 'c0000000-0000-4000-8000-000000000003';

/** What the database would answer: the merchant's row, and money enough. */
const answerTo = ({ text }: Sent): readonly object[] =>
  text.includes('"rateBps"') ? [{ terminalId, rateBps: 0, available: 1_000_000_000n }] : [{}];

/**
 * Creates a payout of the shop on a database that is not there; gives what was sent to it between
 * begin and commit.
 */
const catchStatements = async (shop: BenchShop): Promise<readonly Sent[]> => {
  const sent: Sent[] = [];
  const client = {
    query: async (statement: string | Sent) => {
      if (typeof statement === 'string') return { rows: [] };
      sent.push(statement);
      return { rows: answerTo(statement) };
    },
    release: () => {},
  };
  // All that the statements' own code asks of a pool is `connect`, and of its client `query` and
  // `release`.
  const pool = { connect: async () => client } as unknown as pg.Pool;
  const database = { pool } as unknown as Database;
  const parts = {
    database,
    banks: openBanks(openSimulator(database), pool),
    log: pino({ level: 'silent' }),
    fingerprintKey: randomBytes(32),
  };
  const key = { kind: 'key', keyId: terminalId, ...shop, mode: 'test', scopes } as const;
  const { phone, bank_id: bankId, full_name: fullName } = payoutBody;
  const input = { amount: BigInt(payoutBody.amount), phone, bankId, fullName };
  const created = await createPayout(
    parts,
    { key, policies: noPolicies, now: () => Temporal.Now.instant() },
    input,
    null,
  );
  if (isRefused(created)) throw new Error(created.message);
  return sent;
};

/** The script of one payout of the shop. */
export const payoutScript = async (shop: BenchShop): Promise<string> => {
  const known = [shop.merchantId, shop.shopId, terminalId];
  const statements = (await catchStatements(shop)).map((statement) =>
    statementText(statement, known),
  );
  return ['begin', ...statements, 'commit'].map((line) => `${line};\n`).join('');
};
