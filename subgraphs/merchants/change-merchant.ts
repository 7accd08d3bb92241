/** Operators create and change merchants. Each change writes an audit entry. */
import { randomUUID } from 'node:crypto';
import type {
  MutationmerchantProfileSetArgs,
  MutationmerchantRateLimitSetArgs,
  MutationmerchantRenameArgs,
  MutationmerchantSupportRefundSetArgs,
} from '../../schema/generated/merchants.ts';
import type { Database, OnDatabase } from '../platform/database/orm.ts';
import { BooksCheckEntity } from '../ledger/entities.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { refuse, refuseMistakes, type Refusal } from '../rules/refusal.ts';
import {
  changeEntities,
  changing,
  type Acting,
  type AuditedAction,
} from '../platform/database/audit.ts';
import { MerchantEntity, type Merchant } from '../platform/database/entities.ts';
import { changeCached } from './keys/api-keys.ts';
import {
  nameMistake,
  profileMistakes,
  profileOf,
  type MerchantProfile,
  rateLimitMistake,
} from './rules/merchant.ts';

type Entities = Pick<Database, 'emOf'>;

/** Fields of a merchant that change, and the notification. */
interface MerchantDeps extends OnDatabase<'emOf'> {
  readonly bus: Pick<Bus, 'publish'>;
}

/**
 * Creates a merchant. Live mode is off until an operator turns it on. Refuses a wrong name or
 * profile with `bad_request`.
 */
export const createMerchant = async (
  database: Entities,
  acting: Acting,
  name: string,
  profile: MerchantProfile,
): Promise<Merchant | Refusal> => {
  const refusal = refuseMistakes([nameMistake('name', name), ...profileMistakes(profile)]);
  if (refusal) return refusal;
  const id = randomUUID();
  return changeEntities(
    database,
    acting,
    { action: 'merchant.create', merchantId: id, id },
    async (em) => {
      const now = acting.now();
      em.create(BooksCheckEntity, { merchantId: id, checkedAt: now, dueAt: now });
      return em.create(MerchantEntity, {
        id,
        name,
        ...profile,
        liveEnabled: false,
        ratePerSecond: null,
        rateBurst: null,
        supportRefundMax: 0n,
        createdAt: now,
      });
    },
  );
};

const assigning = (id: string, changed: Partial<Merchant>) =>
  changing(MerchantEntity, { id }, 'merchant', (merchant, em) => em.assign(merchant, changed));

/** Changes properties of a merchant. Refuses with `not_found`. */
const changeMerchant = (
  database: Entities,
  acting: Acting,
  action: Pick<AuditedAction, 'action' | 'view'> & { readonly merchantId: string },
  changed: Partial<Merchant>,
): Promise<Merchant | Refusal> => {
  const { merchantId: id } = action;
  return changeEntities(database, acting, { ...action, id }, assigning(id, changed));
};

/** Renames a merchant. Refuses with `not_found`, or a wrong name with `bad_request`. */
export const renameMerchant = async (
  database: Entities,
  acting: Acting,
  { merchantId, name }: MutationmerchantRenameArgs,
): Promise<Merchant | Refusal> => {
  const mistake = nameMistake('name', name);
  if (mistake) return refuse('bad_request', mistake);
  return changeMerchant(database, acting, { action: 'merchant.rename', merchantId }, { name });
};

/**
 * Turns live mode on or off. While it is off, every process refuses `sk_live_` keys. Refuses with
 * `not_found`.
 */
export const switchLive = (
  deps: MerchantDeps,
  acting: Acting,
  merchantId: string,
  liveEnabled: boolean,
): Promise<Merchant | Refusal> => {
  const action = liveEnabled ? 'merchant.live_enable' : 'merchant.live_disable';
  const change = assigning(merchantId, { liveEnabled });
  return changeCached(deps, acting, { action, merchantId, id: merchantId }, change);
};

/**
 * Replaces what buyers and the platform know of a merchant. Refuses with `not_found`, or a wrong
 * field with `bad_request`.
 */
export const setProfile = async (
  database: Entities,
  acting: Acting,
  { merchantId, profile: given }: MutationmerchantProfileSetArgs,
): Promise<Merchant | Refusal> => {
  const profile = profileOf(given);
  const refusal = refuseMistakes(profileMistakes(profile));
  if (refusal) return refusal;
  const action = { action: 'merchant.profile_set', merchantId, view: 'profile' } as const;
  return changeMerchant(database, acting, action, profile);
};

/** Sets what support may refund of a payment by itself. Refuses with `not_found`. */
export const limitSupportRefunds = (
  database: Entities,
  acting: Acting,
  { merchantId, amount: supportRefundMax }: MutationmerchantSupportRefundSetArgs,
): Promise<Merchant | Refusal> => {
  const action = {
    action: 'merchant.support_refund_set',
    merchantId,
    view: 'supportRefund',
  } as const;
  return changeMerchant(database, acting, action, { supportRefundMax });
};

/**
 * Sets a merchant's rate limit; nulls select the default. All processes drop the merchant's cached
 * keys, so the limit applies at once. Refuses with `not_found`, or wrong limits with `bad_request`.
 */
export const limitMerchant = async (
  deps: MerchantDeps,
  acting: Acting,
  {
    merchantId,
    perSecond: ratePerSecond = null,
    burst: rateBurst = null,
  }: MutationmerchantRateLimitSetArgs,
): Promise<Merchant | Refusal> => {
  const limit = { ratePerSecond, rateBurst };
  const mistake = rateLimitMistake(limit);
  if (mistake) return refuse('bad_request', mistake);
  const action = { action: 'merchant.rate_limit_set', view: 'rateLimit' } as const;
  const about = { ...action, merchantId, id: merchantId };
  return changeCached(deps, acting, about, assigning(merchantId, limit));
};
