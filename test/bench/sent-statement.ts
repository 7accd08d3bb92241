/** The statements of the service, caught on their way to the database: what a baseline runs is then the very same text. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../subgraphs/kernel/database/orm.ts';
import type { Runner } from '../../subgraphs/kernel/database/statement.ts';
import { noPolicies } from '../../subgraphs/kernel/policies/policies.ts';
import { createPayment } from '../../subgraphs/payments/create-payment.ts';
import { loadPayments } from '../../subgraphs/payments/find-payments.ts';
import { findRefunds } from '../../subgraphs/payments/store-payment.ts';

export interface SentStatement {
  readonly name: string;
  readonly text: string;
  /** Parameters as they are sent. */
  readonly values: readonly (string | number | boolean | null | readonly string[])[];
}

/** Lets the work send its statement to nobody. It is answered with no rows. */
const catchStatement = async (work: (runner: Runner) => Promise<unknown>): Promise<SentStatement> => {
  const sent: SentStatement[] = [];
  const runner = {
    query: async (statement: SentStatement) => {
      sent.push(statement);
      return { rows: [] };
    },
  };
  // All that the statements' own code asks of a pool is `query`.
  await work(runner as unknown as Runner);
  const [first] = sent;
  if (!first || sent.length > 1) throw new Error(`expected one statement, got ${sent.length}`);
  return first;
};

const id = randomUUID();

/** The statement that creates a test payment of the shop, with its parameters for such a request. */
export const createStatement = (shop: { readonly merchantId: string; readonly shopId: string }): Promise<SentStatement> =>
  catchStatement((runner) => {
    const key = { kind: 'key', keyId: id, ...shop, mode: 'test', scopes: [] } as const;
    const input = { amount: 10_000n, orderId: 'order-1', description: 'Tea and cakes', returnUrl: 'https://example.com/thanks', metadata: { cart: '17' } };
    return createPayment({ pool: runner } as unknown as Database, noPolicies, key, { input }, Temporal.Now.instant());
  });

/** The statement that reads payments by key. */
export const readStatement = (): Promise<SentStatement> => catchStatement((runner) => loadPayments(runner, [{ merchantId: id, id }]));

/** The statement that reads the refunds of payments. */
export const refundsStatement = (): Promise<SentStatement> =>
  // The pool is asked for `query` alone.
  catchStatement((runner) => findRefunds(runner as Parameters<typeof findRefunds>[0], [{ merchantId: id, id }]));
