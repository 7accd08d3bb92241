/** Resolvers of tokens: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  QueryResolvers,
  QuerytokensArgs,
  TokenResolvers,
} from '../../../schema/generated/recurring.ts';
import { modes } from '../../rules/mode.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { exactly } from '../../platform/database/lists.ts';
import type { Principal } from '../../platform/access/principal.ts';
import { keyOf, merchantOf, orThrow } from '../../platform/access/access.ts';
import { pageAddress, type PageDeps } from '../../platform/access/keys.ts';
import { createToken, type TokenDeps, cancelToken } from './bind-token.ts';
import { chargeToken } from './charge-token.ts';
import { cancellingCaller, recordCancellation } from '../caller.ts';
import type { Token } from '../entities.ts';
import { findTokens, listTokens, loadTokens, recurringPage_max } from '../find-recurring.ts';
import type { RowKey } from '../../platform/database/batch-calls.ts';

/** Fields of a token that are other subgraphs' objects, and its page. */
export const tokenFields = (deps: PageDeps): TokenResolvers => ({
  metadata: ({ metadata }) => metadata ?? {},
  payUrl: (token) => payUrlOf(deps, token),
  shop: ({ merchantId, shopId }) => ({ merchantId, id: shopId }),
  // Tokens are the merchant's, payments the shop's.
  bindingPayment: ({ merchantId, shopId, bindingPaymentId }, _, { principal }) =>
    bindingPaymentId && (principal.kind !== 'key' || principal.shopId === shopId)
      ? { merchantId, id: bindingPaymentId }
      : null,
});

/** Where a buyer binds a token; null unless it is pending. */
export const payUrlOf = (
  deps: PageDeps,
  { merchantId, status, bindingPaymentId: paymentId }: Token,
): string | null =>
  status === 'pending' && paymentId ? pageAddress(deps, { merchantId, paymentId }) : null;

/** The merchant's tokens that the caller reads, of one customer where it is named. */
const requestOf = (
  principal: Principal,
  { merchantId, customerRef }: Pick<QuerytokensArgs, 'merchantId' | 'customerRef'>,
) => ({
  merchantId: merchantOf(principal, merchantId),
  modes,
  columns: {},
  rows: [exactly('token.customer_ref', customerRef, { indexedBy: ['mode'] })],
});

export const tokenQueries = ({ database: { pool } }: TokenDeps): QueryResolvers => ({
  tokens: async (_, { customerRef, merchantId }, { principal }) => {
    const request = requestOf(principal, { merchantId, customerRef });
    return orThrow(await findTokens(pool, principal, request));
  },
  tokensConnection: async (
    _,
    { customerRef, merchantId, mode, status, ...page },
    { principal },
  ) => {
    const request = requestOf(principal, { merchantId, customerRef });
    const filter = { mode: mode && [mode] };
    const limit = status ? {} : { page_max: recurringPage_max };
    const asked = { ...request, ...page, ...limit, columns: { status }, filter };
    return orThrow(await listTokens(pool, principal, asked));
  },
});

export const tokenMutations = (deps: TokenDeps): MutationResolvers => ({
  tokenCreate: async (_, { input, idempotency }, { principal, now, requestId }) => {
    const created = await createToken(
      deps,
      keyOf(principal),
      { input, idempotency },
      { now: now(), requestId },
    );
    if (isRefusal(created)) return created;
    const { token, payUrl, replayed } = created;
    return { __typename: 'TokenCreated', token, payUrl, idempotent: replayed };
  },
  tokenCharge: async (
    _,
    { id, amount, orderId, description, receipt, metadata, idempotency },
    { principal, now, requestId },
  ) => {
    const request = {
      tokenId: id,
      amount,
      orderId: orderId ?? null,
      description: description ?? null,
      ...(metadata ? { metadata } : {}),
      receipt,
      idempotency,
    };
    const charged = await chargeToken(deps, keyOf(principal), request, { now: now(), requestId });
    if (isRefusal(charged)) return charged;
    const { merchantId, id: paymentId } = charged.payment;
    return {
      __typename: 'TokenCharged',
      payment: { merchantId, id: paymentId },
      idempotent: charged.replayed,
    };
  },
  tokenCancel: async (_, { id, reason = null, merchantId }, context) => {
    const find = async (key: RowKey) => (await loadTokens(deps.database.pool, [key]))[0] ?? null;
    const { principal, requestId, now } = context;
    const calling = { requestId, now: now() };
    const asked = { id, merchantId, reason };
    const caller = await cancellingCaller(principal, 'token', asked, find);
    if (isRefusal(caller)) return caller;
    const token = await cancelToken(deps, caller, id, calling, (client, { status: before }) =>
      recordCancellation(
        client,
        context,
        { action: 'token.cancel', merchantId: caller.merchantId, id },
        { before, reason },
      ),
    );
    return isRefusal(token) ? token : { __typename: 'TokenCancelled', token };
  },
});
