/**
 * Subscriptions of the graph, without a transport: a subscription's document becomes the results
 * that its client is to see.
 */
import { GraphQLError, type ExecutionResult } from 'graphql';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import { liveKinds, type LiveKind } from '../../subgraphs/kernel/rules/event.ts';
import { lacks } from '../../subgraphs/kernel/service/access/access.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { audienceOf } from './audience.ts';
import type { LiveEvents, LiveFilter } from './live-events.ts';
import type { Told } from './live-reader.ts';
import { readSelection, type LiveSelection } from './selection.ts';
import { refusePastObjects } from './past-events.ts';
import { openSharedReads, type ReadEvent } from './shared-reads.ts';
import { kindOfGraph } from './stored-events.ts';
import type { Supergraph } from '../supergraph.ts';
import type { GraphRequest } from '../graph-request.ts';

/**
 * Results of one subscription. `extensions.missed` says how many events before a result the client
 * was too slow for.
 */
export type LiveResults = AsyncIterableIterator<ExecutionResult, undefined>;

export interface LiveSubscriptions {
  /**
   * Starts a subscription whose document has been validated. Gives errors where it may not or
   * cannot run; the results end by `return`.
   */
  subscribe(request: GraphRequest, call: Call): LiveResults | readonly GraphQLError[];
}

export interface LiveSubscriptionsParts {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>;
  readonly liveEvents: Pick<LiveEvents, 'read'>;
  readonly log: Logger;
}

/** Opens subscriptions over the source of events. */
export const openLiveSubscriptions = ({
  supergraph,
  liveEvents,
  log,
}: LiveSubscriptionsParts): LiveSubscriptions => {
  const reads = openSharedReads(supergraph);
  return {
    subscribe: (request, call) => {
      const selection = readSelection(supergraph.apiSchema, request);
      if (!('query' in selection)) return selection;
      const filter = filterOf(selection, call);
      if (filter instanceof GraphQLError) return [filter];
      const after = selection.arguments['after'];
      if (typeof after === 'string' && !/^\d{1,18}$/.test(after))
        return [refusal('bad_request', 'after is the id of an event.')];
      const past =
        typeof after === 'string' && !selection.ofEventAlone
          ? refusePastObjects(call.principal)
          : null;
      if (past) return [past];
      const { read, leave } = reads.join(selection, call);
      const events = liveEvents.read(filter, typeof after === 'string' ? after : null);
      return new Results({ events, read, leave, responseName: selection.responseName, call, log });
    },
  };
};

const refusal = (code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

const kindsOfField: Readonly<Record<string, readonly LiveKind[]>> = {
  paymentCreated: ['payment.created'],
  paymentStatusChanged: ['payment.status_changed'],
  payoutCreated: ['payout.created'],
  payoutStatusChanged: ['payout.status_changed'],
  refundCreated: ['refund.created'],
  subscriptionStatusChanged: ['subscription.status_changed'],
  events: liveKinds,
};

const filterOf = (
  { field, arguments: { kinds: asked, merchantId } }: LiveSelection,
  { principal }: Call,
): LiveFilter | GraphQLError => {
  const lack = lacks(`Subscription.${field}`, principal);
  if (lack !== null)
    return refusal(principal.kind === 'key' ? 'scope_required' : 'forbidden', lack);
  const audience = audienceOf(principal, typeof merchantId === 'string' ? merchantId : null);
  if (isRefused(audience)) return refusal(audience.code, audience.message);
  const kinds = Array.isArray(asked)
    ? asked.map((kind) => kindOfGraph(String(kind)))
    : kindsOfField[field];
  if (!kinds) throw new Error(`no events belong to the subscription ${field}`);
  // Among all kinds, what the caller may not subscribe to by itself is left out.
  const heard =
    lacks('Subscription.subscriptionStatusChanged', principal) === null
      ? kinds
      : kinds.filter((kind) => kind !== 'subscription.status_changed');
  return { audience, kinds: new Set(heard) };
};

interface ResultsParts {
  readonly events: AsyncIterableIterator<Told, undefined>;
  readonly read: ReadEvent;
  readonly leave: () => void;
  readonly responseName: string;
  readonly call: Call;
  readonly log: Logger;
}

/**
 * Takes an event when the last result is through, so that a slow client slows nobody. Its `return`
 * ends a `next` that waits, which a generator's would not.
 */
class Results implements LiveResults {
  readonly #parts: ResultsParts;
  #missed = 0;
  #left = false;

  constructor(parts: ResultsParts) {
    this.#parts = parts;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    try {
      return await this.#advance();
    } catch (error) {
      const { log, call } = this.#parts;
      log.error({ err: error, requestId: call.requestId }, 'a live subscription could not go on');
      await this.return();
      throw refusal('unavailable', 'The stream could not be read; subscribe again.');
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#leave();
    await this.#parts.events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #advance(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const { events, read, responseName } = this.#parts;
    for (;;) {
      const told = await events.next();
      if (told.done) return this.return();
      this.#missed += told.value.missed;
      const result = await read(told.value.event);
      if (this.#left) return { done: true, value: undefined };
      if (result.errors || result.data?.['liveEvent'])
        return { done: false, value: this.#reprint(result, responseName) };
      // An event that is gone by now is one that the client has missed.
      this.#missed += 1;
    }
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#parts.leave();
  }

  /** The result of `liveEvent` as that of the field that the client has asked for. */
  #reprint({ data, errors }: ExecutionResult, responseName: string): ExecutionResult {
    const event = data?.['liveEvent'] ?? null;
    const missed = this.#missed;
    this.#missed = 0;
    return {
      data: event === null ? null : { [responseName]: event },
      ...(errors ? { errors: errors.map((error) => renamePath(error, responseName)) } : {}),
      ...(missed > 0 ? { extensions: { missed } } : {}),
    };
  }
}

const renamePath = (error: GraphQLError, responseName: string): GraphQLError =>
  new GraphQLError(error.message, {
    path: error.path ? [responseName, ...error.path.slice(1)] : [responseName],
    extensions: error.extensions,
  });
