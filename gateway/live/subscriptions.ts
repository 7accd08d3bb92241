/**
 * Subscriptions of the graph, without a transport: turns a subscription's document into its
 * results.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GraphQLError, type ExecutionResult, execute, print, type DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import { laneOf } from '../../subgraphs/platform/access/lane.ts';
import type { Call, Principal } from '../../subgraphs/platform/access/principal.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  liveKindOf,
  liveKinds,
  subscriptionOf,
  eventTypeOf,
  graphKindOf,
  type StreamedEvent,
} from '../../subgraphs/rules/event.ts';
import { isRefusal, refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { openNamedQuota, openTurns } from '../callers/limits.ts';
import { codedError } from '../graphql/errors.ts';
import { hasField } from '../graphql/fragments.ts';
import type { GraphRequest } from '../graphql/run-documents.ts';
import type { Supergraph } from '../supergraph.ts';
import type { Audience, LiveEvents, LiveFilter, DeliveredEvent } from './events.ts';
import { readSelection, type LiveSelection } from './selection.ts';

/*
 * Re-reads events for subscribers. Equal reads (query, variables, rights) are executed once per
 * event, and their result is shared: 50 tabs of a console get an event after 0.1 s instead of 1.3.
 * Of one caller a few run at a time, each statement of theirs in
 * the lane, and there are so many different ones at most.
 */

/**
 * Results cached for each group of equal subscribers: the slower ones read what the fastest has
 * fetched.
 */
const sharedResults_max = 64;
/** Reads of one caller that run at a time: each new one is planned and compiled. */
const readsAtOnce_max = 4;
/** Different selections that one caller subscribes to at a time. */
const selections_max = 100;

/** Reads an event with the selection. `data.liveEvent` is null when the event is gone or not the caller's. */
type ReadEvent = (event: StreamedEvent) => Promise<ExecutionResult>;

interface Group {
  members: number;
  readonly results: LRUCache<string, Promise<ExecutionResult>>;
  /** Gives back its place among the caller's selections. */
  readonly end: () => void;
}

const tooMany = (): GraphQLError =>
  codedError(
    'rate_limited',
    `Your subscriptions may select ${selections_max} different things at a time.`,
  );

const openSharedReads = (supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>) => {
  const groups = new Map<string, Group>();
  const selections = openNamedQuota(selections_max);
  const inTurn = openTurns(readsAtOnce_max);
  const begin = (name: string, owner: string | null): Group | null => {
    const end = owner === null ? () => {} : selections.take(owner);
    if (!end) return null;
    const group: Group = {
      members: 0,
      results: new LRUCache<string, Promise<ExecutionResult>>({ max: sharedResults_max }),
      end,
    };
    groups.set(name, group);
    return group;
  };
  /**
   * Joins the group with the same selection and rights. `leave` must be called when the subscription
   * ends. Gives `rate_limited` when the caller has as many different selections as it may.
   */
  return (selection: LiveSelection, call: Call) => {
    const name = groupName(selection, call);
    // The contract's stream is not in the lane: no document of its merchant holds it up.
    const owner = call.isInLane ? laneOf(call.principal) : null;
    const group = groups.get(name) ?? begin(name, owner);
    if (!group) return tooMany();
    group.members += 1;
    const read = selection.isSelfContained
      ? readFromEvent(supergraph, selection)
      : readThroughGraph(supergraph, selection, call);
    return {
      read: (event: StreamedEvent): Promise<ExecutionResult> => {
        const known = group.results.get(event.sequence);
        if (known) return known;
        const result = owner === null ? read(event) : inTurn(owner, () => read(event));
        group.results.set(event.sequence, result);
        const forget = () => group.results.delete(event.sequence);
        result.then((answer) => isRefusedForNow(answer) && forget(), forget);
        return result;
      },
      leave: (): void => {
        group.members -= 1;
        if (group.members > 0) return;
        groups.delete(name);
        group.end();
      },
    };
  };
};

/** A read that was refused is repeated after so long: a queue that is full refuses at once. */
const repeat_ms = 1_000;

/** Whether the caller's reads have refused this one for now. */
const isRefusedForNow = ({ errors = [] }: ExecutionResult): boolean =>
  errors.some(({ extensions }) => extensions['code'] === 'rate_limited');

const groupName = ({ query, variables }: LiveSelection, { principal, isInLane }: Call): string =>
  createHash('sha256')
    .update(JSON.stringify([print(query), variables, rightsOf(principal), isInLane]))
    .digest('base64');

/** The properties of a caller that decide what it may read. */
const rightsOf = (principal: Principal): readonly unknown[] => {
  switch (principal.kind) {
    case 'key':
      return [
        'key',
        principal.merchantId,
        principal.shopId,
        principal.mode,
        principal.scopes.toSorted(),
      ];
    case 'operator':
      return ['operator', principal.role, principal.merchantId];
    case 'buyer':
      return ['buyer', principal.merchantId, principal.paymentId];
    case 'edge':
    case 'service':
      return [principal.kind, principal.name];
  }
};

const readThroughGraph =
  (
    supergraph: Pick<Supergraph, 'execute'>,
    { query, idVariable, variables }: LiveSelection,
    call: Call,
  ): ReadEvent =>
  (event) =>
    supergraph.execute(
      { document: query, variables: { ...variables, [idVariable]: event.sequence } },
      call,
    );

/** The bus carries every field of the event itself, so that nothing is read. */
const readFromEvent =
  (
    supergraph: Pick<Supergraph, 'apiSchema'>,
    { query, idVariable, variables }: LiveSelection,
  ): ReadEvent =>
  async ({ sequence, kind, ...event }) =>
    execute({
      schema: supergraph.apiSchema,
      document: query,
      rootValue: {
        liveEvent: {
          ...event,
          id: sequence,
          kind: graphKindOf(kind),
          __typename: eventTypeOf(kind),
        },
      },
      variableValues: { ...variables, [idVariable]: sequence },
    });

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

interface LiveSubscriptionsDeps {
  readonly supergraph: Pick<Supergraph, 'apiSchema' | 'execute'>;
  readonly liveEvents: Pick<LiveEvents, 'read'>;
  readonly log: Logger;
}

// The scope for past events. The stream itself needs none, live or resumed. Past events with the
// objects that they concern, however, are the registries in another form, and need the registries'
// scope.

/**
 * Refuses past events with their objects to a key that may not read the registries, with
 * `scope_required`; null when the caller may.
 */
const refusePastObjects = (principal: Principal): GraphQLError | null => {
  const lack = principal.kind === 'key' ? accessRefusal('Query.payments', principal) : null;
  return lack === null ? null : codedError('scope_required', `past events: ${lack}`, 403);
};

/** The same check for a client's document that selects events by their ids. */
export const refusePastEvents = (
  document: DocumentNode,
  principal: Principal,
): GraphQLError | null =>
  hasField(document, ({ name }) => name.value === 'liveEvent')
    ? refusePastObjects(principal)
    : null;

export const openLiveSubscriptions = ({
  supergraph,
  liveEvents,
  log,
}: LiveSubscriptionsDeps): LiveSubscriptions => {
  const join = openSharedReads(supergraph);
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
      const joined = join(selection, call);
      if (joined instanceof GraphQLError) return [joined];
      const { read, leave } = joined;
      const events = liveEvents.read(filter, typeof after === 'string' ? after : null);
      return resultsOf({ events, read, leave, responseName: selection.responseName, call, log });
    },
  };
};

/** Refuses a subscription to a caller who may not call it; null when the caller may. */
export const refuseSubscription = (field: string, principal: Principal): GraphQLError | null => {
  const lack = accessRefusal(`Subscription.${field}`, principal);
  if (lack === null) return null;
  return codedError(principal.kind === 'key' ? 'scope_required' : 'forbidden', lack);
};

/**
 * The caller's audience, narrowed to `merchantId` when one is given. Refuses a merchant that is not
 * the caller's with `not_found`.
 */
export const audienceOf = (principal: Principal, merchantId: string | null): Audience | Refusal => {
  switch (principal.kind) {
    case 'key':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        shopId: principal.shopId,
        mode: principal.mode,
      });
    case 'operator': {
      if (principal.merchantId === null) return merchantId === null ? {} : { merchantId };
      return within(principal.merchantId, merchantId, { merchantId: principal.merchantId });
    }
    case 'buyer':
      return within(principal.merchantId, merchantId, {
        merchantId: principal.merchantId,
        subjectId: principal.paymentId,
      });
    case 'edge':
    case 'service':
      return refuse('not_found', 'The stream is not for services.');
  }
};

const within = (own: string, requested: string | null, audience: Audience): Audience | Refusal =>
  requested === null || requested === own
    ? audience
    : refuse('not_found', 'There is no such merchant.');

const filterOf = (
  { field, arguments: { kinds: requested, merchantId } }: LiveSelection,
  { principal }: Call,
): LiveFilter | GraphQLError => {
  const refused = refuseSubscription(field, principal);
  if (refused) return refused;
  const audience = audienceOf(principal, typeof merchantId === 'string' ? merchantId : null);
  if (isRefusal(audience)) return codedError(audience.code, audience.message);
  const kinds = Array.isArray(requested)
    ? requested.map((kind) => liveKindOf(String(kind)))
    : liveKinds.filter((kind) => field === 'events' || field === subscriptionOf(kind));
  if (kinds.length === 0 && !Array.isArray(requested))
    throw new Error(`no events belong to the subscription ${field}`);
  // Among all kinds, those that the caller may not subscribe to by themselves are left out.
  const allowed =
    accessRefusal('Subscription.subscriptionStatusChanged', principal) === null
      ? kinds
      : kinds.filter((kind) => kind !== 'subscription.status_changed');
  return { audience, kinds: new Set(allowed) };
};

interface ResultsDeps {
  readonly events: AsyncIterableIterator<DeliveredEvent, undefined>;
  readonly read: ReadEvent;
  readonly leave: () => void;
  readonly responseName: string;
  readonly call: Call;
  readonly log: Logger;
}

/**
 * Takes an event after the last result was delivered, so that a slow client does not slow others.
 * Unlike a generator's, its `return` ends a pending `next`.
 */
const resultsOf = ({ events, read, leave, responseName, call, log }: ResultsDeps): LiveResults => {
  let missed = 0;
  let hasLeft = false;
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    if (!hasLeft) leave();
    hasLeft = true;
    await events.return?.();
    return { done: true, value: undefined };
  };
  /** Repeats a refused read. Newer events wait in the reader's buffer meanwhile. */
  const readUntilAnswered: ReadEvent = async (event) => {
    const result = await read(event);
    if (hasLeft || !isRefusedForNow(result)) return result;
    await sleep(repeat_ms, undefined, { ref: false });
    return readUntilAnswered(event);
  };
  const advance = async (): Promise<IteratorResult<ExecutionResult, undefined>> => {
    for (;;) {
      const delivered = await events.next();
      if (delivered.done) return end();
      missed += delivered.value.missed;
      const result = await readUntilAnswered(delivered.value.event);
      if (hasLeft) return { done: true, value: undefined };
      if (result.errors || result.data?.['liveEvent']) {
        const value = renamed(result, responseName, missed);
        missed = 0;
        return { done: false, value };
      }
      // An event that is gone by now counts as missed.
      missed += 1;
    }
  };
  return {
    next: () =>
      advance().catch(async (error: unknown) => {
        log.error({ err: error, requestId: call.requestId }, 'a live subscription failed');
        await end();
        throw codedError('unavailable', 'The stream could not be read; subscribe again.');
      }),
    return: end,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/** Renames the result of `liveEvent` to the field that the client selected. */
const renamed = (
  { data, errors }: ExecutionResult,
  responseName: string,
  missed: number,
): ExecutionResult => {
  const event = data?.['liveEvent'] ?? null;
  return {
    data: event === null ? null : { [responseName]: event },
    ...(errors ? { errors: errors.map((error) => renamePath(error, responseName)) } : {}),
    ...(missed > 0 ? { extensions: { missed } } : {}),
  };
};

const renamePath = (error: GraphQLError, responseName: string): GraphQLError =>
  new GraphQLError(error.message, {
    path: error.path ? [responseName, ...error.path.slice(1)] : [responseName],
    extensions: error.extensions,
  });
