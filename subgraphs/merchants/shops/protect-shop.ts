/**
 * The protection of a shop in addition to its keys: its allow-list
 * (docs/contract.md#caller-address), whether signatures are required, and their secret
 * (docs/contract.md#request-signatures). A change takes effect in every process at once, by the bus
 * topic `keys`.
 */
import { randomBytes } from 'node:crypto';
import type {
  MutationshopAllowListSetArgs,
  MutationshopReceiptsRequireArgs,
  MutationshopSignatureRequireArgs,
} from '../../../schema/generated/merchants.ts';
import { readAddressEntry } from '../../platform/access/caller-address.ts';
import { seal, type Keys } from '../../platform/access/keys.ts';
import { ShopEntity, type Shop } from '../../platform/database/entities.ts';
import type { AuditVerb } from '../../rules/audit-action.ts';
import { isRefusal, refuse, type Refusal } from '../../rules/refusal.ts';
import { changing, type Acting } from '../../platform/database/audit.ts';
import { changeCached, type KeyDeps, type ShopKey } from '../keys/api-keys.ts';
import { makeSigningSecret } from '../keys/rules.ts';

/** Entries of a shop's allow-list. */
const allowList_max = 200;

/**
 * Changes a shop's protection: `decide` receives the current one and returns the changes, or
 * refuses.
 */
const changeProtection = (
  deps: KeyDeps,
  acting: Acting,
  {
    shop: { merchantId, shopId },
    verb,
    view = 'protection',
  }: { readonly shop: ShopKey; readonly verb: AuditVerb<'shop'>; readonly view?: string },
  decide: (shop: Shop) => Partial<Shop> | Refusal,
): Promise<Shop | Refusal> => {
  const change = changing(ShopEntity, { merchantId, id: shopId }, 'shop', (shop, em) => {
    const decided = decide(shop);
    return isRefusal(decided) ? decided : em.assign(shop, decided);
  });
  return changeCached(
    deps,
    acting,
    { action: `shop.${verb}`, merchantId, id: shopId, view },
    change,
  );
};

const notRequired = refuse('bad_request', 'bound: allowed only if signatures are required');
const noSecret = refuse(
  'bad_request',
  'required: the shop has no signing secret yet; make one with shopSigningSecretRotate',
);

/**
 * Turns required request signatures on or off. `bound` says whether they must cover the whole
 * request; without it, that is unchanged while they are required. Refuses with `not_found`, or with `bad_request`
 * while there is no signing secret.
 */
export const requireSignature = (
  deps: KeyDeps,
  acting: Acting,
  { required, bound, ...shop }: MutationshopSignatureRequireArgs,
): Promise<Shop | Refusal> =>
  changeProtection(
    deps,
    acting,
    { shop, verb: 'signature_require' },
    ({ signingSecretSealed, requireBoundSignature: before }) => {
      if (required && signingSecretSealed === null) return noSecret;
      if (bound && !required) return notRequired;
      return {
        requireSignature: required,
        requireBoundSignature: required && (bound ?? before),
      };
    },
  );

/**
 * Creates the shop's signing secret; the old one stops at once. Only the answer contains it in
 * clear.
 */
export const rotateSigningSecret = async (
  deps: KeyDeps & { readonly vaultKey: Keys },
  acting: Acting,
  shop: ShopKey,
): Promise<{ readonly shop: Shop; readonly secret: string } | Refusal> => {
  const secret = makeSigningSecret(randomBytes(32));
  const rotated = await changeProtection(
    deps,
    acting,
    { shop, verb: 'signing_secret_rotate' },
    () => ({ signingSecretSealed: seal(deps.vaultKey, secret) }),
  );
  return isRefusal(rotated) ? rotated : { shop: rotated, secret };
};

/** The distinct entries as stored; or what is wrong with the first wrong one. */
const readEntries = (entries: readonly string[]): readonly string[] | Refusal => {
  if (entries.length > allowList_max)
    return refuse(
      'bad_request',
      `entries: expected at most ${allowList_max}, got ${entries.length}`,
    );
  const read: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const known = readAddressEntry(entry);
    if (known === null) {
      const expected =
        'expected an IPv4 or IPv6 address, or a block of them such as 192.0.2.0/24 or 2001:db8::/32';
      return refuse(
        'bad_request',
        `entries[${index}]: ${expected}, got ${JSON.stringify(entry.slice(0, 64))}`,
      );
    }
    read.push(known);
  }
  return [...new Set(read)];
};

/**
 * Sets the addresses from which the shop's keys may be used; without entries, any address. Refuses
 * with `not_found`, or with `bad_request` naming the wrong entry.
 */
export const setAllowList = async (
  deps: KeyDeps,
  acting: Acting,
  { entries, ...shop }: MutationshopAllowListSetArgs,
): Promise<Shop | Refusal> => {
  const read = readEntries(entries);
  return isRefusal(read)
    ? read
    : changeProtection(deps, acting, { shop, verb: 'allow_list_set' }, () => ({
        allowList: [...read],
      }));
};

// The receipt setting of a shop with a cash register. It is cached with the shop's keys: a change
// applies in every process at once, bus topic `keys`.

/**
 * Sets whether the shop's payments, links, token charges and subscriptions, and its partial
 * captures and refunds, need a receipt. Refuses with `not_found`.
 */
export const requireReceipts = (
  deps: KeyDeps,
  acting: Acting,
  { required, ...shop }: MutationshopReceiptsRequireArgs,
): Promise<Shop | Refusal> =>
  changeProtection(deps, acting, { shop, verb: 'receipts_require', view: 'receipts' }, () => ({
    receiptsRequired: required,
  }));
