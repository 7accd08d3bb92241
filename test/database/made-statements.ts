/**
 * Makes statements that the program makes only by a call: of a filter, of a table, of what others
 * give it. Their texts are what counts here, so nothing runs: whoever would send one gets no rows.
 */
import type pg from 'pg';

const nobody: Pick<pg.PoolClient, 'query'> = {
  query: () => Promise.resolve({ rows: [] }) as never,
};

/** Makes them; `statements.ts` is imported before, as it watches what is imported here. */
export const makeStatements = async (): Promise<void> => {
  const { numberAtOnce } = await import('../../subgraphs/kernel/events/number-events.ts');
  const { numberByShard } = await import('../../subgraphs/kernel/events/number-by-shard.ts');
  const { deliveriesOf } = await import('../../subgraphs/merchants/webhooks/make-deliveries.ts');
  const client = nobody as pg.PoolClient;
  numberAtOnce(client, deliveriesOf);
  numberByShard(client, deliveriesOf);
};
