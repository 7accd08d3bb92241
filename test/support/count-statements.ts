/** What a pool sends, for tests of how many statements something takes. */
import type pg from 'pg';

/** Counts the statements that the pool's connections send from now on. */
export const countStatements = (pool: pg.Pool): { readonly texts: string[] } => {
  const counted = { texts: [] as string[] };
  const known = new WeakSet<pg.PoolClient>();
  // A connection that is open already is met when it is taken out of the pool.
  pool.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    const send = client.query.bind(client);
    // The package gives `query` six signatures; what is passed on is what came.
    client.query = ((...given: Parameters<typeof send>) => {
      const [first] = given;
      counted.texts.push(
        typeof first === 'string' ? first : String((first as { text?: string }).text),
      );
      return send(...given);
    }) as typeof client.query;
  });
  return counted;
};
