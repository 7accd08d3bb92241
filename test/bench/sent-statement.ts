/**
 * The statements of the service, caught on their way to the database: what a baseline runs is then
 * the very same text.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../subgraphs/kernel/database/orm.ts';
import type { Runner } from '../../subgraphs/kernel/database/statement.ts';
import { noPolicies } from '../support/no-policies.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { loadPayments } from '../../subgraphs/payments/find-payments.ts';
import { uuidForm } from '../../subgraphs/kernel/rules/uuid.ts';

type Value = string | number | boolean | null | readonly string[];

export interface SentStatement {
  readonly name: string;
  readonly text: string;
  /** Parameters as they are sent. */
  readonly values: readonly Value[];
}

/** Lets the work send its statement to nobody. It is answered with no rows. */
const catchStatement = async (
  work: (runner: Runner) => Promise<unknown>,
): Promise<SentStatement> => {
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

const uuid = new RegExp(uuidForm, 'g');
/**
 * In a script a colon with a name behind it is a variable of pgbench, in a text, too: JSON may have
 * a space there.
 */
const quoted = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll(/":(?=[a-z])/g, '": ')}'`;

const literal = (value: unknown, known: readonly string[], replacing: Replacing): string => {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return `'${value}'`;
  if (typeof value !== 'string') throw new TypeError(`a parameter of type ${typeof value}`);
  // An id by itself is compared with a column of ids.
  if (replacing[value] !== undefined) return `(${replacing[value]})::uuid`;
  const changing = [...new Set(value.match(uuid))].filter((id) => !known.includes(id));
  return changing.reduce(
    (sql, id) => `replace(${sql}, ${quoted(id)}, ${replacing[id] ?? 'gen_random_uuid()::text'})`,
    quoted(value),
  );
};

/**
 * What differs from one run of a statement to the next: ids, with the SQL that gives each instead.
 */
export type Replacing = Readonly<Record<string, string>>;

/**
 * A statement as one line of a script of pgbench, its parameters as SQL. Ids in `known` stay, those
 * in `replacing` become what it says, and every other is made anew by the server each time that the
 * script runs.
 */
export const statementText = (
  { text, values }: Pick<SentStatement, 'text'> & { readonly values: readonly unknown[] },
  known: readonly string[],
  replacing: Replacing = {},
): string =>
  text
    .replaceAll(/\$(\d+)/g, (_, place: string) =>
      literal(values[Number(place) - 1], known, replacing),
    )
    .replaceAll('\n', ' ');

const someId = randomUUID();

/** The statement that reads payments by key. */
export const readStatement = (): Promise<SentStatement> =>
  catchStatement((runner) => loadPayments(runner, [{ merchantId: someId, id: someId }]));

/** Whose payments are created. */
export interface BenchShop {
  readonly merchantId: string;
  readonly shopId: string;
}

const sample = {
  amount: 10_000n,
  orderId: 'order-1',
  description: 'Tea and cakes',
  returnUrl: 'https://example.com/thanks',
  metadata: { cart: '17' },
};
const sampleAt = Temporal.Instant.from('2026-05-06T10:00:00.000Z');
const moment = /^\d{4}-\d{2}-\d{2}T/;

/** The statement that creates a test payment of the shop, with the parameters of one request. */
export const createStatement = (shop: BenchShop): Promise<SentStatement> =>
  catchStatement((runner) => {
    const key = { kind: 'key', keyId: someId, ...shop, mode: 'test', scopes: [] } as const;
    return recordPayment(
      { pool: runner } as unknown as Database,
      noPolicies,
      key,
      { input: sample },
      sampleAt,
    );
  });

/** The places (from 0) of ids that each request makes anew: the payment's first. */
export const freshIds = (
  { values }: SentStatement,
  { merchantId, shopId }: BenchShop,
): readonly number[] =>
  values.flatMap((value, place) =>
    typeof value === 'string' &&
    /^[0-9a-f-]{36}$/.test(value) &&
    value !== merchantId &&
    value !== shopId
      ? [place]
      : [],
  );

/** What a request to create a payment says, of that which the bench sends. */
export type CreateFields = {
  readonly amount: number;
  readonly order_id?: string;
  readonly description?: string;
  readonly return_url?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

type Fill = (body: CreateFields, now: Date) => Value;

const fields: readonly (readonly [Value, Fill])[] = [
  [sample.amount.toString(), ({ amount }) => amount],
  [sample.orderId, ({ order_id }) => order_id ?? 'order'],
  [sample.description, ({ description }) => description ?? null],
  [sample.returnUrl, ({ return_url }) => return_url ?? null],
];

/**
 * How the parameters of another request are made: each place is recognised by what the sample has
 * there.
 */
export const fillOf = (
  statement: SentStatement,
  shop: BenchShop,
): ((body: CreateFields, now: Date) => Value[]) => {
  const fresh = freshIds(statement, shop);
  const fills = statement.values.map((value, place): Fill => {
    if (fresh.includes(place)) return () => randomUUID();
    if (typeof value === 'string' && moment.test(value)) {
      const later_ms = Date.parse(value) - sampleAt.epochMilliseconds;
      return (_, now) => new Date(now.getTime() + later_ms).toISOString();
    }
    if (typeof value === 'string' && value.startsWith('{')) {
      const own: unknown = JSON.parse(value);
      return ({ metadata }) => JSON.stringify(Object.assign({}, own, metadata));
    }
    return fields.find(([known]) => known === value)?.[1] ?? (() => value);
  });
  return (body, now) => fills.map((fill) => fill(body, now));
};
