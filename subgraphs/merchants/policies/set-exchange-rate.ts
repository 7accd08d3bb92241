/**
 * Exchange rates as operators set them. Decision D-35: what a currency is worth in USDT, from a
 * moment on, never retroactive.
 */
import { randomUUID } from 'node:crypto';
import {
  behindCursor,
  newestFirst,
  readPage,
  type Page,
  type PageQuery,
} from '../../kernel/database/page.ts';
import { clientOf } from '../../kernel/database/orm-connections.ts';
import { run, type Runner, type Statement } from '../../kernel/database/statement.ts';
import type { ExchangeRate } from '../../kernel/policies/entities.ts';
import { exchangeRate, isCurrency, rateScale_digits } from '../../kernel/rules/exchange.ts';
import { isRefused, refused, type Refused } from '../../kernel/rules/refusal.ts';
import type { Acting } from '../audit.ts';
import { beginning, changePolicy, type PolicyParts } from './change-policy.ts';

/** `createdAt`, by which it is paged, is its beginning. */
type Found = ExchangeRate & { readonly createdAt: Temporal.Instant };

const found = 'id, currency, trim_scale(usdt)::text as usdt, since, since as "createdAt"';
const before: Statement = {
  name: 'exchange_rate.before',
  text: `select ${found} from exchange_rate where currency = $1 and since <= $2 order by since desc limit 1`,
};
const remove: Statement = {
  name: 'exchange_rate.replace',
  text: 'delete from exchange_rate where id = $1',
};
const insert: Statement = {
  name: 'exchange_rate.insert',
  text: `insert into exchange_rate (id, currency, usdt, since) values ($1, $2, $3::numeric, $4) returning ${found}`,
};

/** Sets a rate. Refuses a wrong currency, rate or moment with `bad_request`. */
export const setExchangeRate = async (
  parts: PolicyParts,
  acting: Acting,
  input: {
    readonly currency: string;
    readonly usdt: string;
    readonly since?: Temporal.Instant | null | undefined;
  },
): Promise<ExchangeRate | Refused> => {
  const { currency, usdt } = input;
  if (!isCurrency(currency))
    return refused(
      'bad_request',
      `currency: expected an ISO 4217 code such as RUB, got ${currency}`,
    );
  if (exchangeRate(usdt) === null)
    return refused(
      'bad_request',
      `usdt: expected a decimal above 0 with up to ${rateScale_digits} digits behind the point`,
    );
  const now = acting.now();
  const since = beginning(input.since, now);
  if (isRefused(since)) return since;
  const id = randomUUID();
  return changePolicy(
    parts,
    acting,
    { action: 'exchange_rate.set', merchantId: null, subject: { kind: 'exchange_rate', id } },
    async (em, notes) => {
      const client = await clientOf(em);
      const [last] = await run<Found>(client, before, [currency, since]);
      if (last && Temporal.Instant.compare(last.since, since) === 0) {
        if (last.since.epochMilliseconds <= now.epochMilliseconds)
          return refused('bad_request', 'since: a rate begins at this moment already');
        await run(client, remove, [last.id]);
      }
      const [rate] = await run<Found>(client, insert, [id, currency, usdt, since]);
      if (!rate) throw new Error('an insert gave no row');
      notes.before = last ? { usdt: last.usdt, since: last.since } : null;
      notes.after = { currency, usdt, since };
      return rate;
    },
  );
};

const history: Statement = {
  name: 'exchange_rate.history',
  text: `select ${found} from exchange_rate where ${behindCursor('since', 'id')} and ($4::text is null or currency = $4) ${newestFirst('since', 'id')}`,
};

/** Rates as they were set, of all currencies or of one, latest beginning first. */
export const listExchangeRates = (
  runner: Runner,
  { currency, ...page }: PageQuery & { readonly currency: string | null },
): Promise<Page<ExchangeRate & { readonly createdAt: Temporal.Instant }> | Refused> =>
  readPage(runner, history, [currency], page);
