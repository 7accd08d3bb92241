/**
 * Subscriptions of the graph, without a transport: turns a subscription's document into its
 * results.
 */
import { GraphQLError, type ExecutionResult } from 'graphql';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import { liveKindOf, liveKinds, subscriptionOf } from '../../subgraphs/kernel/rules/event.ts';
import { lacks } from '../../subgraphs/kernel/service/access/access.ts';
import type { Call } from '../../subgraphs/kernel/service/access/principal.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import { audienceOf, type LiveFilter } from './audience.ts';
import type { LiveEvents } from './events.ts';
import type { DeliveredEvent } from './reader.ts';
import { readSelection, type LiveSelection } from './selection.ts';
import { refusePastObjects } from './past-events.ts';
import { openSharedReads, type ReadEvent } from './shared-reads.ts';
import type { Supergraph } from '../supergraph.ts';
import type { GraphRequest } from '../graph-request.ts';
import { codedError } from '../graphql/coded-error.ts';

/**
 * The results of one subscription. `extensions.missed` counts the events before a result that were
 * lost because the client was slow or the caller selected too much.
 */
export type LiveResults = AsyncIterableIterator<ExecutionResult, undefined>;

export interface LiveSubscriptions {
  /**
   * Starts a subscription whose document has been validated. Gives errors when it may not or cannot
   * run; the results end by `return`.
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
        return [codedError('bad_request', 'after: expected the id of an event.')];
      const past =
        typeof after === 'string' && !selection.isSelfContained
          ? refusePastObjects(call.principal)
          : null;
      if (past) return [past];
      const joined = reads.join(selection, call);
      if (joined instanceof GraphQLError) return [joined];
      const { read, leave } = joined;
      const events = liveEvents.read(filter, typeof after === 'string' ? after : null);
      return new Results({ events, read, leave, responseName: selection.responseName, call, log });
    },
  };
};

const filterOf = (
  { field, arguments: { kinds: requested, merchantId } }: LiveSelection,
  { principal }: Call,
): LiveFilter | GraphQLError => {
  const lack = lacks(`Subscription.${field}`, principal);
  if (lack !== null)
    return codedError(principal.kind === 'key' ? 'scope_required' : 'forbidden', lack);
  const audience = audienceOf(principal, typeof merchantId === 'string' ? merchantId : null);
  if (isRefused(audience)) return codedError(audience.code, audience.message);
  const kinds = Array.isArray(requested)
    ? requested.map((kind) => liveKindOf(String(kind)))
    : liveKinds.filter((kind) => field === 'events' || field === subscriptionOf(kind));
  if (kinds.length === 0 && !Array.isArray(requested))
    throw new Error(`no events belong to the subscription ${field}`);
  // Among all kinds, those that the caller may not subscribe to by themselves are left out.
  const allowed =
    lacks('Subscription.subscriptionStatusChanged', principal) === null
      ? kinds
      : kinds.filter((kind) => kind !== 'subscription.status_changed');
  return { audience, kinds: new Set(allowed) };
};

interface ResultsParts {
  readonly events: AsyncIterableIterator<DeliveredEvent, undefined>;
  readonly read: ReadEvent;
  readonly leave: () => void;
  readonly responseName: string;
  readonly call: Call;
  readonly log: Logger;
}

/**
 * Takes an event after the last result was delivered, so that a slow client slows nobody else.
 * Unlike a generator's, its `return` ends a pending `next`.
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
      throw codedError('unavailable', 'The stream could not be read; subscribe again.');
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
      const delivered = await events.next();
      if (delivered.done) return this.return();
      this.#missed += delivered.value.missed;
      const result = await read(delivered.value.event);
      if (this.#left) return { done: true, value: undefined };
      const isTurnedAway = result.errors?.some(
        ({ extensions }) => extensions['code'] === 'rate_limited',
      );
      if (!isTurnedAway && (result.errors || result.data?.['liveEvent']))
        return { done: false, value: this.#resultOf(result, responseName) };
      // An event that is gone by now counts as missed, and one that waited too long in the lane.
      this.#missed += 1;
    }
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#parts.leave();
  }

  /** Renames the result of `liveEvent` to the field that the client selected. */
  #resultOf({ data, errors }: ExecutionResult, responseName: string): ExecutionResult {
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
