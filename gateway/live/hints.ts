/**
 * Subscriptions whose messages are hints: a client that was away reads the list.
 * `alertRaised`: alerts are no events of the live stream, so no merchant's
 * subscription or event stream can receive one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, type ExecutionResult, type GraphQLError } from 'graphql';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import type { Call, Principal } from '../../subgraphs/platform/access/principal.ts';
import {
  type Bus,
  type PublishedAlert,
  changedLists,
  type ChangedList,
  type ListChange,
} from '../../subgraphs/platform/bus/bus.ts';
import { alertSeverities } from '../../subgraphs/rules/alert.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { codedError } from '../graphql/errors.ts';
import type { Supergraph } from '../supergraph.ts';
import { audienceOf } from './reader.ts';
import { readSelection } from './selection.ts';
import type { LiveResults, LiveSubscriptions } from './subscriptions.ts';

/**
 * Alerts that are buffered for a slow client. Beyond this the oldest are dropped, and the client
 * gets their number.
 */
export const alertsWaiting_max = 200;

interface HintDeps {
  readonly supergraph: Pick<Supergraph, 'apiSchema'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

type Answer<Hint> = (hint: Hint) => ExecutionResult | Promise<ExecutionResult>;

/** Opens a subscription for its caller; `answer` applies the client's selection to what the root holds. */
type OpenHints = (
  call: Call,
  named: Readonly<Record<string, unknown>>,
  answer: Answer<object>,
) => LiveResults | readonly GraphQLError[];

/** Adds a subscription of the root to others, for those who may call it. */
const withHints = (
  field: 'alertRaised' | 'listsChanged',
  others: LiveSubscriptions,
  { apiSchema: schema }: Pick<Supergraph, 'apiSchema'>,
  open: OpenHints,
): LiveSubscriptions => ({
  subscribe: (request, call) => {
    const selection = readSelection(schema, request);
    if (!('query' in selection) || selection.field !== field)
      return others.subscribe(request, call);
    const lack = accessRefusal(`Subscription.${field}`, call.principal);
    if (lack !== null)
      return [codedError(call.principal.kind === 'key' ? 'scope_required' : 'forbidden', lack)];
    const { document, variables, operationName } = request;
    return open(call, selection.arguments, (rootValue) =>
      execute({
        schema,
        document,
        variableValues: variables,
        ...(operationName ? { operationName } : {}),
        rootValue,
      }),
    );
  },
});

/** An alert as the graph has it. The bus carries all of it, so that nothing is read. */
const raised = (alert: PublishedAlert) => ({
  ...alert,
  __typename: 'Alert',
  severity: alertSeverities[alert.kind],
  assignee: null,
  resolvedAt: null,
  resolvedBy: null,
  note: null,
});

/** Adds `alertRaised`, for the platform's operators, to other subscriptions. */
export const withAlertSubscription = (
  others: LiveSubscriptions,
  { supergraph, bus }: HintDeps,
): LiveSubscriptions =>
  withHints(
    'alertRaised',
    others,
    supergraph,
    (_call, _named, answer) =>
      new AlertResults(bus, (alert) => answer({ alertRaised: raised(alert) })),
  );

/** Subscribed to the bus from its construction until `return`. */
class AlertResults implements LiveResults {
  readonly #toResult: Answer<PublishedAlert>;
  readonly #unsubscribe: () => void;
  readonly #waiting: PublishedAlert[] = [];
  #missed = 0;
  #ended = false;
  #wake: () => void = () => {};

  constructor(bus: Pick<Bus, 'subscribe'>, toResult: Answer<PublishedAlert>) {
    this.#toResult = toResult;
    this.#unsubscribe = bus.subscribe('alerts', (alerts) => {
      this.#waiting.push(...alerts);
      this.#missed += this.#waiting.splice(
        0,
        Math.max(0, this.#waiting.length - alertsWaiting_max),
      ).length;
      this.#wake();
    });
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    while (this.#waiting.length === 0 && !this.#ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    const alert = this.#waiting.shift();
    if (!alert || this.#ended) return { done: true, value: undefined };
    const missed = this.#missed;
    this.#missed = 0;
    const result = await this.#toResult(alert);
    return { done: false, value: missed > 0 ? { ...result, extensions: { missed } } : result };
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#ended = true;
    this.#unsubscribe();
    this.#wake();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

// `listsChanged`: that lists of people have changed, by name alone. However many changes there are, a
// subscriber gets one result a second, so that one merchant's rush has no console read its lists more
// often.

/** The least time from one result of a subscription to its next. */
const listsRest_ms = 1_000;

/** The query that reads each list: who may not call it does not learn that the list has changed. */
const readBy: Readonly<Record<ChangedList, string>> = {
  alerts: 'Query.alerts',
  audit_log: 'Query.auditLog',
  payout_drafts: 'Query.payoutDrafts',
  reconciliation_differences: 'Query.reconciliationDifferences',
  refund_drafts: 'Query.refundDrafts',
  refunds: 'Query.refunds',
  webhook_deliveries: 'Query.webhookDeliveries',
  webhook_failures: 'Query.webhookFailures',
};

/** Adds `listsChanged`, for people, to other subscriptions. */
export const withListSubscription = (
  others: LiveSubscriptions,
  { supergraph, bus }: HintDeps,
): LiveSubscriptions =>
  withHints('listsChanged', others, supergraph, ({ principal }, { merchantId }, answer) => {
    const audience = audienceOf(principal, typeof merchantId === 'string' ? merchantId : null);
    if (isRefusal(audience)) return [codedError(audience.code, audience.message)];
    const concerns = concernsOf(principal, audience.merchantId ?? null);
    return new ListResults(bus, concerns, (lists) => answer({ listsChanged: { lists } }));
  });

/**
 * Whether a change concerns the caller. A change without a merchant concerns all people of the
 * platform.
 */
const concernsOf = (principal: Principal, merchantId: string | null) => {
  const readable = new Set(
    changedLists.filter((list) => accessRefusal(readBy[list], principal) === null),
  );
  const isOfPlatform = principal.kind === 'operator' && principal.merchantId === null;
  return (change: ListChange): boolean =>
    readable.has(change.list) &&
    (change.merchantId === null
      ? isOfPlatform
      : merchantId === null || change.merchantId === merchantId);
};

/** Subscribed to the bus from its construction until `return`. */
class ListResults implements LiveResults {
  readonly #toResult: Answer<readonly ChangedList[]>;
  readonly #unsubscribe: () => void;
  readonly #changed = new Set<ChangedList>();
  readonly #ended = new AbortController();
  #restsUntil_ms = -Infinity;
  #wake: () => void = () => {};

  constructor(
    bus: Pick<Bus, 'subscribe'>,
    concerns: (change: ListChange) => boolean,
    toResult: Answer<readonly ChangedList[]>,
  ) {
    this.#toResult = toResult;
    this.#unsubscribe = bus.subscribe('lists', (changes) => {
      for (const change of changes) if (concerns(change)) this.#changed.add(change.list);
      if (this.#changed.size > 0) this.#wake();
    });
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    while (this.#changed.size === 0 && !this.#ended.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    const rest_ms = this.#restsUntil_ms - performance.now();
    if (rest_ms > 0)
      // The end of the subscription ends the wait, too.
      await sleep(rest_ms, undefined, { signal: this.#ended.signal }).catch(() => {});
    if (this.#ended.signal.aborted) return { done: true, value: undefined };
    const lists = [...this.#changed];
    this.#changed.clear();
    this.#restsUntil_ms = performance.now() + listsRest_ms;
    return { done: false, value: await this.#toResult(lists) };
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#ended.abort();
    this.#unsubscribe();
    this.#wake();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
