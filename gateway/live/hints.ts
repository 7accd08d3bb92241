/**
 * Subscriptions whose messages are hints: a client that was away reads the list.
 * `alertRaised`: alerts are no events of the live stream, so no merchant's
 * subscription or event stream can receive one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, type ExecutionResult } from 'graphql';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import {
  type Bus,
  type BusMessages,
  type PublishedAlert,
  changedLists,
  type ChangedList,
  type ListChange,
} from '../../subgraphs/platform/bus/bus.ts';
import { alertKinds } from '../../subgraphs/rules/alert.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { codedError } from '../graphql/errors.ts';
import type { Supergraph } from '../supergraph.ts';
import { readSelection } from './selection.ts';
import {
  audienceOf,
  refuseSubscription,
  type LiveResults,
  type LiveSubscriptions,
} from './subscriptions.ts';

/**
 * Alerts that are buffered for a slow client. Beyond this the oldest are dropped, and the client
 * gets their number.
 */
export const alertsWaiting_max = 200;

interface HintDeps {
  readonly supergraph: Pick<Supergraph, 'apiSchema'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/** Applies the client's selection to what the root holds. */
type Answer = (root: object) => ExecutionResult | Promise<ExecutionResult>;

/** Adds `alertRaised`, for the platform's operators, and `listsChanged`, for people, to others. */
export const withHints = (
  others: LiveSubscriptions,
  { supergraph: { apiSchema: schema }, bus }: HintDeps,
): LiveSubscriptions => ({
  subscribe: (request, call) => {
    const selection = readSelection(schema, request);
    if (!('query' in selection) || !['alertRaised', 'listsChanged'].includes(selection.field))
      return others.subscribe(request, call);
    const { principal } = call;
    const refused = refuseSubscription(selection.field, principal);
    if (refused) return [refused];
    const { document, variables, operationName } = request;
    const answer: Answer = (rootValue) =>
      execute({
        schema,
        document,
        variableValues: variables,
        ...(operationName ? { operationName } : {}),
        rootValue,
      });
    if (selection.field === 'alertRaised') return hintsFrom(bus, 'alerts', waitingAlerts(answer));
    const { merchantId } = selection.arguments;
    const audience = audienceOf(principal, typeof merchantId === 'string' ? merchantId : null);
    if (isRefusal(audience)) return [codedError(audience.code, audience.message)];
    const concerns = concernsOf(principal, audience.merchantId ?? null);
    return hintsFrom(bus, 'lists', waitingLists(concerns, answer));
  },
});

/** An alert as the graph has it. The bus carries all of it, so that nothing is read. */
const raised = (alert: PublishedAlert) => ({
  ...alert,
  __typename: 'Alert',
  severity: alertKinds[alert.kind].severity,
  assignee: null,
  resolvedAt: null,
  resolvedBy: null,
  note: null,
});

/** What waits for a subscriber. */
interface Waiting<Topic extends 'alerts' | 'lists'> {
  readonly add: (message: BusMessages[Topic]) => void;
  readonly isEmpty: () => boolean;
  /** The next result; the end of the subscription ends the wait for it, too. */
  readonly take: (ending: AbortSignal) => Promise<ExecutionResult>;
}

/** Subscribed to the bus until `return`. */
const hintsFrom = <Topic extends 'alerts' | 'lists'>(
  bus: HintDeps['bus'],
  topic: Topic,
  waiting: Waiting<Topic>,
): LiveResults => {
  const ended = new AbortController();
  const { signal } = ended;
  let wake = (): void => {};
  const unsubscribe = bus.subscribe(topic, (message) => {
    waiting.add(message);
    wake();
  });
  return {
    next: async () => {
      while (waiting.isEmpty() && !signal.aborted)
        await new Promise<void>((resolve) => (wake = resolve));
      const result = signal.aborted ? null : await waiting.take(signal);
      return result && !signal.aborted
        ? { done: false, value: result }
        : { done: true, value: undefined };
    },
    return: async () => {
      ended.abort();
      unsubscribe();
      wake();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

const waitingAlerts = (answer: Answer): Waiting<'alerts'> => {
  const waiting: PublishedAlert[] = [];
  let missed = 0;
  return {
    add: (alerts) => {
      waiting.push(...alerts);
      missed += waiting.splice(0, Math.max(0, waiting.length - alertsWaiting_max)).length;
    },
    isEmpty: () => waiting.length === 0,
    take: async () => {
      const extensions = missed > 0 ? { extensions: { missed } } : {};
      missed = 0;
      const alert = waiting.shift();
      return { ...(await answer({ alertRaised: alert && raised(alert) })), ...extensions };
    },
  };
};

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

const waitingLists = (
  concerns: (change: ListChange) => boolean,
  answer: Answer,
): Waiting<'lists'> => {
  const changed = new Set<ChangedList>();
  let restsUntil_ms = -Infinity;
  return {
    add: (changes) => {
      for (const change of changes) if (concerns(change)) changed.add(change.list);
    },
    isEmpty: () => changed.size === 0,
    take: async (signal) => {
      const rest_ms = restsUntil_ms - performance.now();
      if (rest_ms > 0) await sleep(rest_ms, undefined, { signal }).catch(() => {});
      const lists = [...changed];
      changed.clear();
      restsUntil_ms = performance.now() + listsRest_ms;
      return answer({ listsChanged: { lists } });
    },
  };
};

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
