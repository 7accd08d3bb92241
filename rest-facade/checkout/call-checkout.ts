/** The hosted page's calls on the graph. */
import type { ExecutionResult } from 'graphql';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type {
  GetCustomerPageQuery,
  GetCustomerSubscriptionQuery,
} from '../../schema/generated/asked-of-recurring.ts';
import type { GetLinkPageQuery } from '../../schema/generated/asked-of-payments.ts';
import type {
  CardInput,
  PaymentMethod,
  SimulatorOutcome,
} from '../../schema/generated/operations.ts';
import type { CheckoutFieldsFragment } from '../../schema/wire.ts';
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

/** What the page of a customer shows. */
export type CustomerPage = NonNullable<GetCustomerPageQuery['customerPage']>;
type FoundSubscription = NonNullable<GetCustomerSubscriptionQuery['customerPage']>;
/** What the page of one of the customer's subscriptions shows. */
export interface CustomerSubscriptionPage extends FoundSubscription {
  readonly subscription: NonNullable<FoundSubscription['subscription']>;
}
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

/** What a buyer answers at the simulated bank; `coded`: with a code. */
export interface BankFormAnswer {
  readonly approve: boolean;
  readonly coded: boolean;
}

/** What a customer may end. */
export type CustomerThing = 'token' | 'subscription';

/** What every operation's result gives; throws when the graph did not answer it. */
const answered = <Data extends object>(operation: string, result: ExecutionResult<Data>): Data => {
  if (!result.data || result.errors?.length) throw new CheckoutUnanswered(operation, result.errors);
  return result.data;
};

/** The operations of a customer's pages. */
const prepareCustomerCalls = (graph: Pick<Supergraph, 'operation'>) => {
  const readCustomer = graph.operation('GetCustomerPage');
  const readSubscription = graph.operation('GetCustomerSubscription');
  const endToken = graph.operation('CancelCustomerToken');
  const endSubscription = graph.operation('CancelCustomerSubscription');
  return {
    /** The page of a customer at an address; null when there is none. */
    readCustomer: async (call: Call, address: string): Promise<CustomerPage | null> =>
      answered(readCustomer.name, await readCustomer.run({ address }, call)).customerPage,
    /** The page of one of the customer's subscriptions; null when there is none. */
    readSubscription: async (
      call: Call,
      address: string,
      id: string,
    ): Promise<CustomerSubscriptionPage | null> => {
      const result = await readSubscription.run({ address, id }, call);
      const { customerPage: page } = answered(readSubscription.name, result);
      return page?.subscription ? { ...page, subscription: page.subscription } : null;
    },
    /** Ends what the page shows; false when it does not show it. */
    endOfCustomer: {
      token: async (call: Call, address: string, id: string): Promise<boolean> => {
        const result = await endToken.run({ address, id }, call);
        return answered(endToken.name, result).customerTokenCancel.__typename !== 'Refused';
      },
      subscription: async (call: Call, address: string, id: string): Promise<boolean> => {
        const result = await endSubscription.run({ address, id }, call);
        const { customerSubscriptionCancel: ended } = answered(endSubscription.name, result);
        return ended.__typename !== 'Refused';
      },
    },
  };
};

/** The operations of the page, each prepared once. They reject with CheckoutUnanswered. */
export const prepareCheckoutCalls = (graph: Pick<Supergraph, 'operation'>) => {
  const get = graph.operation('GetCheckout');
  const choose = graph.operation('ChooseCheckoutMethod');
  const pay = graph.operation('PayCheckout');
  const plan = graph.operation('PlanCheckoutOutcome');
  const confirm = graph.operation('ConfirmCheckoutSimulator');
  const readLink = graph.operation('GetLinkPage');
  const payLink = graph.operation('PayLink');
  return {
    ...prepareCustomerCalls(graph),
    /** Null when the payment is gone. */
    read: async (call: Call): Promise<Checkout | null> => {
      const result = await get.run({}, call);
      const gone = result.errors?.some(({ extensions }) => extensions['code'] === 'not_found');
      return gone ? null : answered(get.name, result).checkout;
    },
    choose: async (call: Call, method: PaymentMethod): Promise<CheckoutAnswer> =>
      answered(choose.name, await choose.run({ method }, call)).checkoutMethodChoose,
    pay: async (call: Call, card: CardInput | null): Promise<CheckoutAnswer> =>
      answered(pay.name, await pay.run({ card }, call)).checkoutPay,
    plan: async (
      call: Call,
      outcome: SimulatorOutcome,
      failureCode: string | null,
    ): Promise<CheckoutAnswer> =>
      answered(plan.name, await plan.run({ outcome, failureCode }, call)).checkoutOutcomePlan,
    confirm: async (call: Call, answer: BankFormAnswer): Promise<CheckoutAnswer> =>
      answered(confirm.name, await confirm.run(answer, call)).checkoutSimulatorConfirm,
    /** The link at an address; null when there is none. */
    readLink: async (call: Call, address: string): Promise<LinkPage | null> =>
      answered(readLink.name, await readLink.run({ address }, call)).linkPage,
    /** Makes a payment through a link, of `amount` minor units where it is open; once for a key. */
    payLink: async (
      call: Call,
      address: string,
      amount: number | null,
      idempotencyKey: string | null,
    ): Promise<{ readonly paymentUrl: string } | PageRefusal> =>
      answered(payLink.name, await payLink.run({ address, amount, idempotencyKey }, call)).linkPay,
  };
};
export type CheckoutCalls = ReturnType<typeof prepareCheckoutCalls>;
