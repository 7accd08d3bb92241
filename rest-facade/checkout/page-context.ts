/**
 * The context of a request of the hosted page: the caller's address, the language and the payment.
 */
import type { FastifyRequest } from 'fastify';
import { readPageToken } from '../../subgraphs/platform/graph/page-address.ts';
import type { BuyerPrincipal, Call } from '../../subgraphs/platform/access/principal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { Checkout, CheckoutCalls } from './call-checkout.ts';
import { chooseLanguage, wordsOf } from './choose-language.ts';
import type { Assets } from './serve-assets.ts';
import type { Words } from './words/words.ts';
import type { Keys } from '../../subgraphs/platform/access/keys.ts';

export interface PageContext {
  readonly calls: CheckoutCalls;
  readonly pageSecret: Keys;
  readonly assets: Assets;
  readonly log: Logger;
}

export interface TokenRoute {
  Params: { token: string };
}

export interface BuyerCall extends Call {
  readonly principal: BuyerPrincipal;
}

/**
 * The buyer whose page a request is for, null when the token is not ours; and the language to
 * answer in.
 */
export interface Visit {
  readonly call: BuyerCall | null;
  readonly words: Words;
}

/** Reads the token and the language of a request. */
export const visitOf = (
  { pageSecret }: PageContext,
  request: FastifyRequest<TokenRoute>,
): Visit => {
  const subject = readPageToken(pageSecret, request.params.token);
  const call = subject && {
    principal: { kind: 'buyer' as const, ...subject },
    requestId: request.id,
    isInLane: false,
  };
  return { call, words: wordsOf(chooseLanguage(request)) };
};

/** A visit and its payment; `found` is null when the token or the payment is unknown. */
export interface Found {
  readonly words: Words;
  readonly found: { readonly call: BuyerCall; readonly checkout: Checkout } | null;
}

/** Reads the payment of a request. */
export const findCheckout = async (
  context: PageContext,
  request: FastifyRequest<TokenRoute>,
): Promise<Found> => {
  const { words, call } = visitOf(context, request);
  const checkout = call && (await context.calls.read(call));
  return { words, found: call && checkout ? { call, checkout } : null };
};

/** The page's address as seen from the browser. */
export const pageAddress = (request: FastifyRequest<TokenRoute>): string =>
  `/pay/${request.params.token}`;
