/**
 * The subscription `alertRaised`. Alerts are no events of the live stream, so no merchant's
 * subscription or event stream can receive one. A message is a hint; a client that was away reads
 * the list `alerts`.
 */
import { execute, type ExecutionResult } from 'graphql';
import { alertSeverities } from '../../subgraphs/rules/alert.ts';
import type { Bus, PublishedAlert } from '../../subgraphs/platform/bus/bus.ts';
import { accessRefusal } from '../../subgraphs/platform/access/access.ts';
import { readSelection } from './selection.ts';
import type { LiveResults, LiveSubscriptions } from './subscriptions.ts';
import type { Supergraph } from '../supergraph.ts';
import type { GraphRequest } from '../graph-request.ts';
import { codedError } from '../graphql/coded-error.ts';

/**
 * Alerts that are buffered for a slow client. Beyond this the oldest are dropped, and the client
 * gets their number.
 */
export const alertsWaiting_max = 200;

interface AlertSubscriptionsDeps {
  readonly supergraph: Pick<Supergraph, 'apiSchema'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/** Adds `alertRaised`, for the platform's operators, to other subscriptions. */
export const withAlertSubscription = (
  others: LiveSubscriptions,
  { supergraph, bus }: AlertSubscriptionsDeps,
): LiveSubscriptions => ({
  subscribe: (request, call) => {
    const selection = readSelection(supergraph.apiSchema, request);
    if (!('query' in selection) || selection.field !== 'alertRaised')
      return others.subscribe(request, call);
    const lack = accessRefusal('Subscription.alertRaised', call.principal);
    if (lack !== null)
      return [codedError(call.principal.kind === 'key' ? 'scope_required' : 'forbidden', lack)];
    return new AlertResults(bus, (alert) => resultOf(supergraph.apiSchema, request, alert));
  },
});

/**
 * Applies the client's selection to an alert. The bus carries all of it, so that nothing is read.
 */
const resultOf = (
  schema: Supergraph['apiSchema'],
  { document, variables, operationName }: GraphRequest,
  alert: PublishedAlert,
) =>
  execute({
    schema,
    document,
    variableValues: variables,
    ...(operationName ? { operationName } : {}),
    rootValue: {
      alertRaised: {
        ...alert,
        __typename: 'Alert',
        severity: alertSeverities[alert.kind],
        assignee: null,
        resolvedAt: null,
        resolvedBy: null,
        note: null,
      },
    },
  });

/** Subscribed to the bus from its construction until `return`. */
class AlertResults implements LiveResults {
  readonly #toResult: (alert: PublishedAlert) => ExecutionResult | Promise<ExecutionResult>;
  readonly #unsubscribe: () => void;
  readonly #waiting: PublishedAlert[] = [];
  #missed = 0;
  #ended = false;
  #wake: () => void = () => {};

  constructor(
    bus: Pick<Bus, 'subscribe'>,
    toResult: (alert: PublishedAlert) => ExecutionResult | Promise<ExecutionResult>,
  ) {
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
