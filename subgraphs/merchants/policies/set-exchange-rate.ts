/**
 * Operators set exchange rates: a currency's value in USDT from a moment on, never retroactively.
 */
import { randomUUID } from 'node:crypto';
import { isCurrency } from '../../../schema/currencies.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, given, type Page, type PageQuery } from '../../platform/database/keyset.ts';
import { ExchangeRateEntity, type ExchangeRate } from '../../platform/policies/entities.ts';
import { exchangeRate, plainRate, rateScale_digits } from '../../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Acting } from '../audit.ts';
import { beginning, changePolicy, type PolicyDeps } from './change-policy.ts';

/** Sets a rate. Refuses a wrong currency, rate or moment with `bad_request`. */
export const setExchangeRate = async (
  deps: PolicyDeps,
  acting: Acting,
  input: {
    readonly currency: string;
    readonly usdt: string;
    readonly since?: Temporal.Instant | null | undefined;
  },
): Promise<ExchangeRate | Refusal> => {
  const { currency, usdt } = input;
  if (!isCurrency(currency))
    return refuse(
      'bad_request',
      `currency: expected an ISO 4217 code such as RUB, got ${currency}`,
    );
  if (exchangeRate(usdt) === null)
    return refuse(
      'bad_request',
      `usdt: expected a decimal above 0 with up to ${rateScale_digits} digits after the point`,
    );
  const now = acting.now();
  const since = beginning(input.since, now);
  if (isRefusal(since)) return since;
  const id = randomUUID();
  return changePolicy(
    deps,
    acting,
    { action: 'exchange_rate.set', merchantId: null, subject: { kind: 'exchange_rate', id } },
    async (em, notes) => {
      const begun = { currency, since: { $lte: since } };
      const last = await em.findOne(ExchangeRateEntity, begun, { orderBy: { since: 'desc' } });
      notes.before = last && { usdt: last.usdt, since: last.since };
      notes.after = { currency, usdt, since };
      if (last && Temporal.Instant.compare(last.since, since) === 0) {
        if (last.since.epochMilliseconds <= now.epochMilliseconds)
          return refuse('bad_request', 'since: a rate already begins at this moment');
        // The moment is unique, so the previous rate of this moment is removed first.
        await em.remove(last).flush();
      }
      return em.create(ExchangeRateEntity, { id, currency, usdt: plainRate(usdt), since });
    },
  );
};

/** Rates as they were set, of all currencies or of one, latest effective date first. */
export const listExchangeRates = (
  em: EntityManager,
  { currency, ...page }: PageQuery & { readonly currency: string | null },
): Promise<Page<ExchangeRate> | Refusal> => {
  const bound = ['exchange_rate.history', [currency]] as const;
  const where = given({ currency });
  return findPage(em, { entity: ExchangeRateEntity, at: 'since', where, bound }, page);
};
