/**
 * The subscription `alertRaised`, beside those of the live stream and apart from it: alerts are no
 * events of the stream, so neither a merchant's subscription nor its SSE can ever hear one. What is
 * told is a hint; who was away reads the list `alerts`.
 */
import { execute, GraphQLError, type ExecutionResult } from 'graphql';
import type { Bus, PublishedAlert } from '../../subgraphs/kernel/service/bus.ts';
import { lacks } from '../../subgraphs/kernel/service/access/access.ts';
import { readSelection } from './selection.ts';
import type { LiveResults, LiveSubscriptions } from './live-subscriptions.ts';
import type { Supergraph } from '../supergraph.ts';
import type { GraphRequest } from '../graph-request.ts';

/** Alerts that wait for a slow console; of more the oldest are lost, and it is told how many. */
export const alertsWaiting_max = 200;

export interface AlertSubscriptionsParts {
  readonly supergraph: Pick<Supergraph, 'apiSchema'>;
  readonly bus: Pick<Bus, 'subscribe'>;
}

/** The subscriptions of `others`, and `alertRaised` of the platform's operators. */
export const withAlerts = (
  others: LiveSubscriptions,
  { supergraph: { apiSchema }, bus }: AlertSubscriptionsParts,
): LiveSubscriptions => ({
  subscribe: (request, call) => {
    const selection = readSelection(apiSchema, request);
    if (!('query' in selection) || selection.field !== 'alertRaised')
      return others.subscribe(request, call);
    const lack = lacks('Subscription.alertRaised', call.principal);
    if (lack !== null)
      return [
        new GraphQLError(lack, {
          extensions: { code: call.principal.kind === 'key' ? 'scope_required' : 'forbidden' },
        }),
      ];
    return new AlertResults(bus, (alert) => select(apiSchema, request, alert));
  },
});

/** An alert with the client's own selection. All of it came over the bus: nothing is asked for. */
const select = (
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
        resolvedAt: null,
        resolvedBy: null,
        note: null,
      },
    },
  });

/** Listens from the moment it is made until `return`. */
class AlertResults implements LiveResults {
  readonly #print: (alert: PublishedAlert) => ExecutionResult | Promise<ExecutionResult>;
  readonly #unsubscribe: () => void;
  readonly #waiting: PublishedAlert[] = [];
  #missed = 0;
  #ended = false;
  #wake: () => void = () => {};

  constructor(
    bus: Pick<Bus, 'subscribe'>,
    print: (alert: PublishedAlert) => ExecutionResult | Promise<ExecutionResult>,
  ) {
    this.#print = print;
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
    const result = await this.#print(alert);
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
