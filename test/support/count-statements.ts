/** What a pool sends, for tests of how many statements something takes. */
import type pg from 'pg';

interface Counted {
  readonly texts: string[];
  /** Rows that were answered. */
  rows: number;
}

/** What is written beside the work, a second or ten later, is no part of what something takes. */
const isBackground = (text: string): boolean =>
  /^insert into (?:api_request|bank_call|bank_health|page_opening) /.test(text);

/** Counts the statements that the pool's connections send from now on, and their rows. */
export const countStatements = (pool: pg.Pool): Counted => {
  const counted: Counted = { texts: [], rows: 0 };
  const known = new WeakSet<pg.PoolClient>();
  // A connection that is open already is met when it is taken out of the pool.
  pool.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    const send = client.query.bind(client);
    // The package gives `query` six signatures; what is passed on is what came.
    client.query = ((...given: Parameters<typeof send>) => {
      const [first] = given;
      const text = typeof first === 'string' ? first : String((first as { text?: string }).text);
      if (isBackground(text)) return send(...given);
      counted.texts.push(text);
      // Of a text with several statements the package gives a list of results.
      const count = (result?: pg.QueryResult | pg.QueryResult[]): void => {
        for (const { rows } of result ? [result].flat() : []) counted.rows += rows.length;
      };
      const answered: unknown = given.at(-1);
      if (typeof answered !== 'function') {
        const sent = send(...given) as unknown as Promise<pg.QueryResult>;
        sent.then(count, () => {});
        return sent;
      }
      const counting = (error: Error | undefined, result?: pg.QueryResult): void => {
        count(result);
        answered(error, result);
      };
      return Reflect.apply(send, client, [...given.slice(0, -1), counting]);
    }) as typeof client.query;
  });
  return counted;
};
