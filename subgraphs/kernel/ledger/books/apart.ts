/**
 * The checks of the books where the tables are spread: a shard runs what names its merchant. Each
 * table that a check reads is narrowed to one merchant under its own name, so that the check is the
 * same. What it asks of the coordinator is read before: a fact that is counted in between is left
 * out, as one whose event waits.
 */
import { run, type Runner, type Statement } from '../../database/statement.ts';
import { highestId, lowestId, walks, type Range, type Walk } from './check.ts';

/** The tables with rows of merchants that checks read. */
const tables = [
  ...walks,
  'audit_entry',
  'balance',
  'balance_checkpoint',
  'balance_delta',
  'balance_proof',
  'consumer_retry',
  'counted_fact',
  'hourly_total',
  'webhook_delivery',
  'webhook_endpoint',
];

const narrowed = (text: string): readonly string[] =>
  tables.flatMap((table) =>
    new RegExp(`\\b(?:from|join) ${table}\\b`).test(text)
      ? [`${table} as not materialized (select * from ${table} where merchant_id = $1::uuid)`]
      : [],
  );

/** What counted checks read of the coordinator's tables, as `$6` and `$7`. */
const given = [
  `consumer_offset as (select 'totals' as consumer, $6::bigint as sequence)`,
  'totals_walk as (select 1 where $7::boolean)',
];

/** A check of one merchant's rows: `$1` and `$3` are that merchant. */
export const ofMerchant = ({ name, text }: Statement): Statement => {
  const parts = [...narrowed(text), ...(isOfTotals(text) ? given : [])];
  const rest = text.startsWith('with ') ? `, ${text.slice('with '.length)}` : ` ${text}`;
  return { name: `${name}.of_merchant`, text: `with ${parts.join(',\n    ')}${rest}` };
};

/** Whether a check asks how far the totals are. */
export const isOfTotals = (text: string): boolean => /\bfrom totals_walk\b/.test(text);

const totalsPlace: Statement = {
  name: 'books.totals_place',
  text: `select (select sequence from consumer_offset where consumer = 'totals') as sequence,
    exists (select 1 from totals_walk) as "isWalking"`,
};

/** How far the totals are: the values of `$6` and `$7`. */
export const readTotalsPlace = async (runner: Runner): Promise<readonly unknown[]> => {
  const [place] = await run<{ sequence: bigint; isWalking: boolean }>(runner, totalsPlace, []);
  return [place?.sequence ?? 0n, place?.isWalking ?? true];
};

const merchantsOf = new Map<Walk, Statement>(
  walks.map((walk) => [
    walk,
    {
      name: `books.merchants_${walk}`,
      text: `select distinct merchant_id as "merchantId" from ${walk}
        where (merchant_id, id) > ($1::uuid, $2::uuid) and (merchant_id, id) <= ($3::uuid, $4::uuid)`,
    },
  ]),
);

/** What is checked at once: a range, or the part of it that is one merchant's. */
export interface Part extends Range {
  /** Whether the tables are spread, so that all of it is one merchant's. */
  readonly isApart: boolean;
}

/** A range as it is checked: whole, or the part of each merchant that has rows in it. */
export const partsOf = async (
  runner: Runner,
  walk: Walk,
  { from, to, isApart }: Part,
): Promise<readonly Part[]> => {
  const statement = merchantsOf.get(walk);
  if (!statement || !isApart) return [{ from, to, isApart }];
  const values = [from.merchantId, from.id, to.merchantId, to.id];
  const rows = await run<{ merchantId: string }>(runner, statement, values);
  return rows.map(({ merchantId }) => ({
    from: { merchantId, id: merchantId === from.merchantId ? from.id : lowestId },
    to: { merchantId, id: merchantId === to.merchantId ? to.id : highestId },
    isApart,
  }));
};
