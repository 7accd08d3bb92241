/** The hosted page's calls on the graph. */
import type { ExecutionResult } from 'graphql';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type {
  GetCustomerPageQuery,
  GetCustomerSubscriptionQuery,
} from '../../schema/generated/asked-of-recurring.ts';
import type { GetLinkPageQuery } from '../../schema/generated/asked-of-payments.ts';
import type { OperationMap, OperationName } from '../../schema/generated/operation-map.ts';
import type { CheckoutFieldsFragment } from '../../schema/generated/operations.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import type { Call } from '../../subgraphs/platform/access/principal.ts';

export type Checkout = CheckoutFieldsFragment;
/** The page asks a refusal for no more. */
type PageRefusal = Pick<Refusal, '__typename' | 'code' | 'message'>;
export const isRefusal = (answer: object): answer is PageRefusal =>
  '__typename' in answer && answer.__typename === 'Refused';
export type CheckoutAnswer = Checkout | PageRefusal;

/** What the page of a payment link shows. */
export type LinkPage = NonNullable<GetLinkPageQuery['linkPage']>;

export type CustomerPage = NonNullable<GetCustomerPageQuery['customerPage']>;
/** What the page of one of the customer's subscriptions shows. */
export type FoundSubscription = NonNullable<GetCustomerSubscriptionQuery['customerPage']>;
/** What both pages of a customer show. */
export type CustomerFrame = Omit<FoundSubscription, 'subscription'>;

/**
 * The graph did not answer. It contains codes and paths, never messages, which may repeat input.
 */
class CheckoutUnanswered extends Error {
  /** 503 when a part of the service or the database is away: the same call may be made again. */
  readonly statusCode: 500 | 503;

  constructor(operation: string, errors: ExecutionResult['errors']) {
    const causes = (errors ?? []).map(
      ({ extensions, path }) =>
        `${JSON.stringify(extensions['code'] ?? null)} at ${(path ?? []).join('.')}`,
    );
    super(`${operation} was not answered: ${causes.join('; ') || 'no data'}`);
    this.name = 'CheckoutUnanswered';
    this.statusCode = errors?.some(({ extensions }) => extensions['code'] === 'unavailable')
      ? 503
      : 500;
  }
}

/** What a customer may end. */
export type CustomerThing = 'token' | 'subscription';

/** What an operation answers; throws when the graph did not answer it. */
const answered = <Data extends object>(operation: string, result: ExecutionResult<Data>): Data => {
  if (!result.data || result.errors?.length) throw new CheckoutUnanswered(operation, result.errors);
  return result.data;
};

/** The operations of the pages, each prepared once. They reject with CheckoutUnanswered. */
export const prepareCheckoutCalls = (graph: Pick<Supergraph, 'operation'>) => {
  /** The call of an operation: it gives what the operation's one field holds. */
  const open = <Name extends OperationName, Field extends keyof OperationMap[Name]['result']>(
    name: Name,
    field: Field,
  ) => {
    const operation = graph.operation(name);
    return async (
      call: Call,
      variables: OperationMap[Name]['variables'],
    ): Promise<OperationMap[Name]['result'][Field]> =>
      answered(name, await operation.run(variables, call))[field];
  };
  const get = graph.operation('GetCheckout');
  return {
    /** Null when the payment is gone. */
    read: async (call: Call): Promise<Checkout | null> => {
      const result = await get.run({}, call);
      const gone = result.errors?.some(({ extensions }) => extensions['code'] === 'not_found');
      return gone ? null : answered(get.name, result).checkout;
    },
    choose: open('ChooseCheckoutMethod', 'checkoutMethodChoose'),
    pay: open('PayCheckout', 'checkoutPay'),
    plan: open('PlanCheckoutOutcome', 'checkoutOutcomePlan'),
    /** `coded`: the buyer answers at the simulated bank with a code. */
    confirm: open('ConfirmCheckoutSimulator', 'checkoutSimulatorConfirm'),
    readLink: open('GetLinkPage', 'linkPage'),
    /** Makes a payment through a link, of `amount` minor units where it is open; once for a key. */
    payLink: open('PayLink', 'linkPay'),
    /** The page of a customer at an address; null when there is none. */
    readCustomer: open('GetCustomerPage', 'customerPage'),
    readSubscription: open('GetCustomerSubscription', 'customerPage'),
    /** Ends what the page shows; refused when it does not show it. */
    endOfCustomer: {
      token: open('CancelCustomerToken', 'customerTokenCancel'),
      subscription: open('CancelCustomerSubscription', 'customerSubscriptionCancel'),
    },
  };
};
export type CheckoutCalls = ReturnType<typeof prepareCheckoutCalls>;
