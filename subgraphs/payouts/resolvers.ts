/** The payouts subgraph's resolvers. */
import type { FilterQuery, InferEntity } from '@mikro-orm/core';
import { LRUCache } from 'lru-cache';
import type {
  MutationResolvers,
  QueryResolvers,
  Resolvers,
  PayoutBatchItem,
} from '../../schema/generated/payouts.ts';
import type { Bank } from '../acquirers/bank.ts';
import { SbpBankEntity } from '../acquirers/entities.ts';
import type { Banks } from '../acquirers/route.ts';
import { openSbpDirectory, type SbpBank, type SbpDirectory } from '../acquirers/sbp-banks.ts';
import { isOfAll, keyOf, merchantOf, orThrow } from '../platform/access/access.ts';
import { changeEntities, writeEntry, type Acting } from '../platform/database/audit.ts';
import type { RowKey } from '../platform/database/batch-calls.ts';
import type { Created } from '../platform/database/idempotency.ts';
import { openKnownMerchants } from '../platform/database/known-merchants.ts';
import { foundTotalField, totalField, exactly, oneOf } from '../platform/database/lists.ts';
import type { Database } from '../platform/database/orm.ts';
import { reachOf } from '../platform/database/reach.ts';
import { emOn } from '../platform/database/orm-connections.ts';
import { inTransaction } from '../platform/database/statement.ts';
import { personOf, type PersonActing } from '../platform/drafts/drafts.ts';
import type { SubgraphDeps } from '../platform/graph/build-subgraph.ts';
import { mayReadOfShop, ownOnly } from '../platform/graph/entities.ts';
import { timedPlanOfAmount } from '../rules/banks.ts';
import { isUuid } from '../rules/ids.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { draftFields, draftMutations, draftQueries, type DraftsDeps } from './drafts/resolvers.ts';
import { payoutDrafts } from './drafts/create-draft.ts';
import { createPayoutBatch } from './create-payout-batch.ts';
import { createPayout } from './create-payout.ts';
import { PayoutEntity, type Payout } from './entities.ts';
import {
  loadPayouts,
  pageOfPayouts,
  maskedRecipient,
  recipientView,
  findPaidRecipients,
} from './find-payouts.ts';
import { quotePayouts } from './quote-payouts.ts';
import { searchPayouts } from './search-payouts.ts';

/* Moves a payout's next bank query to now, after a notification from its bank. */

// Only payouts that the bank has accepted, and cards, which are never ordered again: a notification
// never causes an order. Leased payouts are queried again, and so are stopped ones and card payouts
// that were given up.
const isAsked: FilterQuery<InferEntity<typeof PayoutEntity>> = {
  $or: [
    { status: 'pending', $or: [{ bankRef: { $ne: null } }, { method: 'payouts_card' }] },
    { failReason: 'recipient_data_lost' },
  ],
};

/** Whether there is something to query. */
const askPayoutNow = async (
  { pool }: Pick<Database, 'pool'>,
  merchantId: string,
  id: string,
  now: Temporal.Instant,
): Promise<boolean> => {
  const later = { $or: [{ askAt: null }, { askAt: { $gt: now } }] };
  const key = { merchantId, id, mode: 'live' as const };
  const asked = { ...key, $and: [later, isAsked] };
  return (await emOn(pool).nativeUpdate(PayoutEntity, asked, { askAt: now })) > 0;
};

/** The least time between bank queries about a payout caused by reads, in this process. */
const readPause_ms = 3_000;

/** Payouts whose last query is remembered; one that fell out may be queried sooner. */
const askedPayouts_max = 10_000;

/** Whether a read payout may have ended at the bank and was not queried recently. */
const openWorthAsking = (): ((payout: Payout) => boolean) => {
  const asked = new LRUCache<string, true>({ max: askedPayouts_max, ttl: readPause_ms });
  return ({ id, mode, status }) => {
    if (mode !== 'live' || status !== 'pending' || asked.has(id)) return false;
    asked.set(id, true);
    return true;
  };
};

/** The response to a create. A replay shows the payout as it is now. */
const createdView = ({ banks }: DraftsDeps, { made: payout, replayed }: Created<Payout>) => {
  const bank = banks.bankOf(payout);
  return {
    __typename: 'PayoutCreated' as const,
    payout,
    mode: payout.mode,
    idempotent: replayed,
    simulator: payout.mode === 'test' ? timedPlanOfAmount(payout.amount).outcome : null,
    bank: isRefusal(bank) ? null : bank.bankName,
    bankRef: payout.bankRef,
    failureReason: payout.failReason,
  };
};

const queries = (
  { database: { pool }, wakeSenders }: DraftsDeps,
  directory: SbpDirectory,
  isWorthAsking: (payout: Payout) => boolean,
): QueryResolvers => ({
  payout: async (_, { id, merchantId }, { principal, now }) => {
    const [payout] = await loadPayouts(pool, [
      { merchantId: merchantOf(principal, merchantId), id },
    ]);
    if (!payout || !mayReadOfShop(principal, payout)) return null;
    // Readers get the known state at once; the bank is queried in the background.
    if (
      isWorthAsking(payout) &&
      (await askPayoutNow({ pool }, payout.merchantId, payout.id, now()))
    )
      wakeSenders();
    return payout;
  },
  payouts: async (_, { status, method, filter, ...asked }, { principal }) => {
    const rows = [
      exactly('payout.order_id', filter?.orderId),
      oneOf('payout.fail_reason', filter?.failReason),
    ];
    const request = { ...asked, filter, columns: { status, method }, rows };
    return orThrow(await pageOfPayouts(pool, principal, request));
  },
  payoutSearch: async (_, { search, merchantId, ...page }, { principal }) => {
    // A key searches only its own mode, as in its registry.
    const reach = isOfAll(principal, merchantId)
      ? null
      : await reachOf(pool, principal, merchantId, principal.kind !== 'key');
    return orThrow(await searchPayouts(pool, reach, search, page));
  },
  paidRecipients: (_, { merchantId, mode }, { principal }) =>
    findPaidRecipients(pool, { merchantId: merchantOf(principal, merchantId), mode }),
  payoutQuote: async (_, { merchantId, mode, items }, { principal, now }) => {
    const asked = { merchantId: merchantOf(principal, merchantId), mode, items };
    return orThrow(await quotePayouts(pool, asked, now()));
  },
  sbpBanks: async () => [...(await directory.current())],
});

// Shows a person the whole recipient of a payout or of its draft, with an audit entry.

/**
 * The recipient, once its entry is committed: no one sees it without a trace. A payout has the id of
 * its draft. A card's number is stored nowhere, so it cannot be revealed.
 */
const revealRecipient = (
  { pool }: Pick<Database, 'pool'>,
  acting: PersonActing,
  key: RowKey,
): Promise<ReturnType<typeof recipientView> | Refusal> =>
  inTransaction(pool, async (client) => {
    const [payout] = await loadPayouts(client, [key]);
    const [draft] = payout ? [null] : await payoutDrafts.load(client, [key]);
    const found = payout ?? draft;
    if (!found) return refuse('not_found', 'there is no such payout');
    const { merchantId, id } = found;
    const kind = payout ? 'payout' : 'payout_draft';
    const after = { recipient: maskedRecipient(found) };
    const action = { action: 'payout.recipient_reveal', merchantId, id, kind } as const;
    await writeEntry(client, acting, action, { before: null, after });
    return recipientView(found);
  });

// Updates the SBP directory from an acquirer, for an operator. Participants missing from the
// acquirer's list stay: the directory is not an allow-list.

/** How long an operator waits for the acquirer's list. */
const deadline_ms = 15_000;
/** SBP has some hundreds of participants. */
const banks_max = 5_000;
const name_max_chars = 255;

const isName = (name: string): boolean =>
  name.length > 0 && name.length <= name_max_chars && !name.includes('\0');
const isBank = ({ memberId, name, nameEn }: SbpBank): boolean =>
  /^[0-9]{12}$/.test(memberId) && isName(name) && isName(nameEn);

/** One entry for each participant; a list with an invalid entry is refused as a whole. */
const readList = async (bank: Bank): Promise<readonly SbpBank[] | Refusal> => {
  if (!bank.listSbpBanks)
    return refuse('method_unsupported', `${bank.bankName} provides no list of SBP banks`);
  const listed = await bank.listSbpBanks(AbortSignal.timeout(deadline_ms)).catch(() => null);
  if (listed === null)
    return refuse('router_error', `${bank.bankName} did not return its list of SBP banks`);
  if (listed.length === 0 || listed.length > banks_max || !listed.every(isBank)) {
    return refuse(
      'router_error',
      `${bank.bankName} returned an implausible list: ${listed.length} entries, or a member id that is not 12 digits, or a name that is empty`,
    );
  }
  return [...new Map(listed.map((entry) => [entry.memberId, entry])).values()];
};

/**
 * Refreshes the directory from a connector's bank. Refuses with `route_not_configured` without such
 * a connector, `method_unsupported` when it has no list, and `router_error` when the list is
 * missing or invalid; then nothing changes.
 */
const refreshSbpBanks = async (
  { database, banks }: { readonly database: Database; readonly banks: Banks },
  acting: Acting,
  connector: string,
) => {
  const bank = banks.bankOf({
    mode: connector === banks.simulator.connector ? 'test' : 'live',
    connector,
  });
  if (isRefusal(bank)) return bank;
  // The bank is called before the transaction, so that none stays open during the call.
  const list = await readList(bank);
  if (isRefusal(list)) return list;
  return changeEntities(
    database,
    acting,
    { action: 'sbp_banks.refresh', merchantId: null, id: connector },
    async (em, notes) => {
      const known = new Map((await em.find(SbpBankEntity, {})).map((one) => [one.memberId, one]));
      const changed = list.filter(({ memberId, name, nameEn }) => {
        const before = known.get(memberId);
        return before?.name !== name || before.nameEn !== nameEn;
      });
      const rows = changed.map((one) => ({ ...one, connector, refreshedAt: acting.now() }));
      if (rows.length > 0)
        await em
          .createQueryBuilder(SbpBankEntity)
          .insert(rows)
          .onConflict('memberId')
          .merge()
          .execute();
      // How many participants the acquirer named, and how many of them are new or renamed.
      const result = { named: list.length, changed: rows.length };
      notes.after = { ...result };
      return result;
    },
  );
};

const mutations = (deps: DraftsDeps, directory: SbpDirectory): MutationResolvers => ({
  payoutCreate: async (_, { input, idempotency }, { principal, now }) => {
    const creating = { key: keyOf(principal), policies: await deps.policies.current(), now };
    const created = await createPayout(deps, creating, input, idempotency);
    // A router error leaves a failed payout with its events.
    if (!isRefusal(created) || created.code === 'router_error') deps.wakeRelay();
    if (isRefusal(created)) return created;
    if (!created.replayed && created.made.status === 'pending') deps.wakeSenders();
    return createdView(deps, created);
  },
  payoutBatchCreate: async (_, { method, items, idempotency }, { principal, now }) => {
    const creating = { key: keyOf(principal), policies: await deps.policies.current(), now };
    const batch = await createPayoutBatch(deps, creating, { method, items }, idempotency);
    // A refusal may follow some pages, whose payouts are on their way.
    deps.wakeRelay();
    deps.wakeSenders();
    if (isRefusal(batch)) return batch;
    const { results, replayed } = batch;
    const count = (status: PayoutBatchItem['status']): number =>
      results.filter((result) => result.status === status).length;
    return {
      __typename: 'PayoutBatchCreated',
      mode: creating.key.mode,
      created: count('created'),
      failed: count('failed'),
      total: results.length,
      results: [...results],
      idempotent: replayed,
    };
  },
  payoutRecipientReveal: async (_, { merchantId, id }, context) => {
    const recipient = await revealRecipient(deps.database, personOf(context), { merchantId, id });
    return isRefusal(recipient) ? recipient : { __typename: 'PayoutRecipientRevealed', recipient };
  },
  bankPayoutAsk: async (_, { merchantId, id }, { now }) => {
    if (!isUuid(merchantId) || !isUuid(id)) return false;
    const asked = await askPayoutNow(deps.database, merchantId, id, now());
    if (asked) deps.wakeSenders();
    return asked;
  },
  sbpBanksRefresh: async (_, { connector }, context) => {
    const refreshed = await refreshSbpBanks(deps, context, connector);
    if (isRefusal(refreshed)) return refreshed;
    directory.forget();
    return { __typename: 'SbpBanksRefreshed', ...refreshed };
  },
});

export const payoutsSubgraph = (
  deps: DraftsDeps,
  directory = openSbpDirectory(deps.database),
): SubgraphDeps & { name: 'payouts'; resolvers: Resolvers } => ({
  name: 'payouts',
  resolvers: {
    Payout: {
      failReason: ({ failReason }) => failReason ?? '',
      metadata: ({ metadata }) => metadata ?? {},
      // A program is the merchant's own; a person sees the whole with `payoutRecipientReveal`.
      recipient: (payout, _, { principal }) =>
        principal.kind === 'key' ? recipientView(payout) : maskedRecipient(payout),
      shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
      merchant: ({ merchantId }) => ({ id: merchantId }),
    },
    PayoutConnection: foundTotalField,
    PayoutDraft: draftFields(deps),
    PayoutDraftConnection: totalField,
    Query: { ...queries(deps, directory, openWorthAsking()), ...draftQueries(deps) },
    Mutation: { ...mutations(deps, directory), ...draftMutations(deps) },
  },
  areMerchants: openKnownMerchants(deps.database.pool),
  entities: {
    Payout: ownOnly((references) => loadPayouts(deps.database.pool, references), mayReadOfShop),
  },
});
