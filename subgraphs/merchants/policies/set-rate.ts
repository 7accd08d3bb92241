/**
 * Operators set commission rates: for the platform, a merchant or a shop; per method; dated, never
 * retroactive.
 */
import { randomUUID } from 'node:crypto';
import { isCurrency } from '../../../schema/currencies.ts';
import { RateEntity, type Rate } from '../../ledger/entities.ts';
import { ExchangeRateEntity, type ExchangeRate } from '../../platform/policies/policies.ts';
import { exchangeRate, plainRate, rateScale_digits } from '../../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import type { Acting } from '../../platform/database/audit.ts';
import { beginning, changePolicy, missing, type PolicyDeps } from './change-policy.ts';
import type {
  MutationrateSetArgs,
  MutationexchangeRateSetArgs,
} from '../../../schema/generated/merchants.ts';

const mistakeIn = ({ merchantId, shopId, rateBps }: MutationrateSetArgs): string | null => {
  if (shopId && !merchantId) return 'merchantId: required for the rate of a shop';
  return rateBps >= 0 && rateBps <= 10_000
    ? null
    : `rateBps: expected an integer from 0 to 10,000, got ${rateBps}`;
};

/**
 * Sets a rate at the named level. Refuses with `not_found`, or a wrong value or a past moment with
 * `bad_request`.
 */
export const setRate = async (
  deps: PolicyDeps,
  acting: Acting,
  input: MutationrateSetArgs,
): Promise<Rate | Refusal> => {
  const mistake = mistakeIn(input);
  if (mistake) return refuse('bad_request', mistake);
  const now = acting.now();
  const since = beginning(input.since, now);
  if (isRefusal(since)) return since;
  const { merchantId = null, shopId = null, method, rateBps } = input;
  const id = randomUUID();
  return changePolicy(deps, acting, { action: 'rate.set', merchantId, id }, async (em, notes) => {
    const gone = merchantId === null ? null : await missing(em, merchantId, shopId);
    if (gone) return gone;
    const level = { merchantId, shopId, method };
    const begun = { ...level, since: { $lte: since } };
    const last = await em.findOne(RateEntity, begun, { orderBy: { since: 'desc' } });
    notes.before = last && { rateBps: last.rateBps, since: last.since };
    if (last && Temporal.Instant.compare(last.since, since) === 0) {
      if (last.since.epochMilliseconds <= now.epochMilliseconds)
        return refuse('bad_request', 'since: a rate of this level already begins at this moment');
      em.remove(last);
    }
    return em.create(RateEntity, { id, ...level, rateBps, since });
  });
};

// Operators set exchange rates: a currency's value in USDT from a moment on, never retroactively.

/** Sets a rate. Refuses a wrong currency, rate or moment with `bad_request`. */
export const setExchangeRate = async (
  deps: PolicyDeps,
  acting: Acting,
  input: MutationexchangeRateSetArgs,
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
    { action: 'exchange_rate.set', merchantId: null, id },
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
