/** Payment links: from GraphQL to a verb, and back. */
import type {
  MutationResolvers,
  PaymentLinkResolvers,
  QueryResolvers,
} from '../../../schema/generated/payments.ts';
import { minorUnits } from '../../rules/money.ts';
import { findSeller } from '../../platform/database/find-seller.ts';
import { nobody } from '../../rules/receipt.ts';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { merchantOf, orThrow } from '../../platform/access/access.ts';
import { mayReadOfShop } from '../../platform/graph/entities.ts';
import { pageAddress } from '../../platform/access/keys.ts';
import { type PaymentsDeps, sellerOf } from '../parts.ts';
import type { PaymentLink } from '../entities.ts';
import { createLink } from './create-link.ts';
import { deactivateLink, loadLinks, pageOfLinks } from './store-link.ts';
import { findLinkPage, payLink, timeOfLink } from './pay-link.ts';
import { isOpen } from './rules.ts';

/** The fields of a link that are no columns. */
export const linkFields: PaymentLinkResolvers = {
  capture: ({ capture }) => capture ?? 'automatic',
  amountPaid: ({ amountPaid }) => BigInt(amountPaid),
  receipt: ({ receipt }) =>
    receipt && {
      ...receipt,
      customer: receipt.customer ?? nobody,
      items: receipt.items.map((item) => ({ ...item, price: minorUnits(item.price) })),
    },
};

export const linkQueries = (deps: PaymentsDeps): QueryResolvers => ({
  paymentLink: async (_, { id, merchantId }, { principal }) => {
    const [link] = await loadLinks(deps.database.pool, [
      { merchantId: merchantOf(principal, merchantId), id },
    ]);
    return link && mayReadOfShop(principal, link) ? link : null;
  },
  paymentLinks: async (_, { status, merchantId, includeTest, mode, ...page }, { principal }) => {
    const request = {
      ...page,
      merchantId: merchantOf(principal, merchantId),
      includeTest: includeTest || mode === 'test',
      filter: mode && { mode: [mode] },
      columns: { status },
    };
    return orThrow(await pageOfLinks(deps.database.pool, principal, request));
  },
  linkPage: async (_, { address }) => {
    const link = await findLinkPage(deps, address);
    if (!link) return null;
    const seller = await findSeller(deps.database.pool, link.merchantId);
    return { ...link, seller, isOpen: isOpen(link, await timeOfLink(deps, link)) };
  },
});

/** What a merchant does with links, and a buyer on a link's page. */
export const linkMutations = (deps: PaymentsDeps): MutationResolvers => ({
  linkCreate: async (_, { input, idempotency, merchantId, shopId, mode }, context) => {
    const named = { merchantId, shopId, mode: mode ?? 'live' };
    const seller = await sellerOf(deps, context.principal, named, context.now);
    if (isRefusal(seller)) return seller;
    const { shop, now } = seller;
    const created = await createLink(deps, shop, { input, idempotency }, now(), context);
    if (isRefusal(created)) return created;
    return { __typename: 'PaymentLinkCreated', link: created.made, idempotent: created.replayed };
  },
  linkDeactivate: async (_, { id, merchantId }, context) => {
    const key = { merchantId: merchantOf(context.principal, merchantId), id };
    const [known] = await loadLinks(deps.database.pool, [key]);
    if (!known) return refuse('not_found', 'there is no such link');
    // A person has the real time, the link's shop may have a test clock.
    const at = await timeOfLink(deps, known);
    const mayChange = (found: PaymentLink) => mayReadOfShop(context.principal, found);
    const link = await deactivateLink(deps.database, context, key, mayChange, at);
    return isRefusal(link) ? link : { __typename: 'PaymentLinkDeactivated', link };
  },
  linkPay: async (_, { address, amount, idempotencyKey }) => {
    const payment = await payLink(deps, address, amount ?? null, idempotencyKey ?? null);
    if (isRefusal(payment)) return payment;
    deps.wakeRelay();
    const { merchantId, id: paymentId } = payment;
    return {
      __typename: 'LinkPaymentBegun',
      paymentUrl: pageAddress(deps, { merchantId, paymentId }),
    };
  },
});
