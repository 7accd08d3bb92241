/** A live connector that may fail before it took the order of a charge, or after. */
import type pg from 'pg';
import type { Bank } from '../../subgraphs/acquirers/bank.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';

/** What it does with the next charge instead of answering, and what its answers wait for. */
export const orders: { fault: 'before' | 'after' | null; answering: () => Promise<void> } = {
  fault: null,
  answering: async () => {},
};

export const faltering = (simulator: Bank): Bank => ({
  ...simulator,
  connector: 'faltering',
  bankName: 'Faltering Bank',
  charge: async (order) => {
    const failing = orders.fault;
    orders.fault = null;
    if (failing === 'before') throw new Error('the process was killed');
    await orders.answering();
    const answer = await simulator.charge(order);
    return failing === 'after' ? { kind: 'unknown' } : answer;
  },
});

/** Routes the live charges of a method to it. */
export const routeToFaltering = (
  pool: pg.Pool,
  { merchantId, shopId }: Pick<KeyPrincipal, 'merchantId' | 'shopId'>,
  method: string,
): Promise<unknown> =>
  pool.query(
    `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
      values ($1, gen_random_uuid(), $2, 'live', 'recurrent', $3, 'faltering', 1, true, now())`,
    [merchantId, shopId, method],
  );
