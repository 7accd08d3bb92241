/**
 * How recurring billing moves money: it calls the payments subgraph, in this or another process,
 * through typed internal operations (schema/internal/payments.graphql). Every request is idempotent
 * under its key, so a call whose answer was lost is repeated. Events also publish the outcomes
 * (consume-payments.ts).
 */
import { randomUUID } from 'node:crypto';
import { GraphQLError, separateOperations, type ExecutionResult } from 'graphql';
import type {
  AskRecurringPaymentMutation,
  CancelRecurringPaymentMutation,
  ReadRecurringPaymentsQuery,
  RecurringPaymentFieldsFragment,
  RecurringPaymentInput,
  RecurringPaymentReference,
} from '../../schema/generated/asked-of-payments.ts';
import { readInternalOperations } from '../../schema/sources.ts';
import { isFailureCode, type FailureCode } from '../rules/failure-code.ts';
import type { RecurringKind, SavableMethod } from '../rules/recurring.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import { lazily } from '../platform/graph/lazily.ts';
import type { SubgraphExecutor } from '../platform/graph/subgraph.ts';

/**
 * A payment to ask for. Its key identifies it permanently: it is derived from the purpose, as
 * `subscription/<id>/<period>/<attempt>`.
 */
type Request<Kind extends RecurringKind> = Omit<RecurringPaymentInput, 'amount' | 'kind'> & {
  readonly amount: bigint;
  readonly kind: Kind;
};

/** A payment that binds a method: the buyer completes it on the hosted page. */
export type BindingRequest = Request<'token_bind' | 'subscription_init'> & {
  readonly method: SavableMethod;
};

/** A charge of a saved method, without the buyer. */
type ChargeRequest = Omit<
  Request<'token_charge' | 'subscription_charge'>,
  'method' | 'verification'
> & { readonly savedReference: string };

/** A payment of a saved method as it is now. `cardMask` is the last 4 digits behind a mask. */
export interface RecurringPayment extends Omit<
  RecurringPaymentFieldsFragment,
  'amount' | 'amountRefunded' | 'failureCode' | 'createdAt' | 'capturedAt' | 'finalizedAt'
> {
  readonly kind: RecurringKind;
  readonly amount: bigint;
  readonly amountRefunded: bigint;
  /** Null unless it ended without money. */
  readonly failureCode: FailureCode | null;
  readonly createdAt: Temporal.Instant;
  readonly capturedAt: Temporal.Instant | null;
  readonly finalizedAt: Temporal.Instant | null;
}

export interface AskedPayment {
  readonly payment: RecurringPayment;
  /** Whether an earlier request with the same key made it. */
  readonly replayed: boolean;
}

export interface AskedBinding extends AskedPayment {
  /** Where the buyer binds the method. */
  readonly payUrl: string;
}

/** The reference alone: the input has no place for more. */
const keyOf = ({ merchantId, id }: RecurringPaymentReference): RecurringPaymentReference => ({
  merchantId,
  id,
});

const instant = (text: string | null): Temporal.Instant | null =>
  text === null ? null : Temporal.Instant.from(text);

const readPayment = (payment: RecurringPaymentFieldsFragment): RecurringPayment => ({
  ...payment,
  amount: BigInt(payment.amount),
  amountRefunded: BigInt(payment.amountRefunded),
  failureCode:
    payment.failureCode !== null && isFailureCode(payment.failureCode) ? payment.failureCode : null,
  createdAt: Temporal.Instant.from(payment.createdAt),
  capturedAt: instant(payment.capturedAt),
  finalizedAt: instant(payment.finalizedAt),
});

/** The data of an answer. The caller may see an error that only says: unavailable. */
const dataOf = ({ data, errors }: ExecutionResult): unknown => {
  const [error] = errors ?? [];
  if (!error) return data;
  if (error.extensions['code'] === 'unavailable')
    throw new GraphQLError('payments did not answer', { extensions: { code: 'unavailable' } });
  throw new Error(`payments answered: ${error.message}`);
};

type Result = AskRecurringPaymentMutation['recurringPaymentCreate'];

const readResult = (
  result: Result,
): (AskedPayment & { readonly payUrl: string | null }) | Refusal =>
  result.__typename === 'Refused'
    ? refuse(result.code, result.message)
    : { payment: readPayment(result.payment), payUrl: result.payUrl, replayed: result.replayed };

/**
 * The payments subgraph behind an executor, asked as the service itself. Each call rejects with the
 * code `unavailable` when payments did not answer: repeat it under the same key.
 */
export const openPayments = (executor: SubgraphExecutor) => {
  const documents = separateOperations(readInternalOperations('payments'));
  /** An operation of this name; the first call prepares it. */
  const operation = <Data>(name: string) => {
    const document = documents[name];
    if (!document) throw new Error(`no operation is called ${name}`);
    const run = lazily(() => executor.prepare(document));
    return async (
      variables: Readonly<Record<string, unknown>>,
      requestId: string = randomUUID(),
    ): Promise<Data> => {
      const principal = { kind: 'service', name: 'recurring' } as const;
      // A parse border: the subgraph's own schema made these data for this operation.
      return dataOf(await run()(variables, { principal, requestId, isInLane: false })) as Data;
    };
  };
  const create = operation<AskRecurringPaymentMutation>('AskRecurringPayment');
  const cancel = operation<CancelRecurringPaymentMutation>('CancelRecurringPayment');
  const read = operation<ReadRecurringPaymentsQuery>('ReadRecurringPayments');
  const ask = async (
    input: Readonly<Record<string, unknown>> & { readonly amount: bigint },
    requestId?: string,
  ) => {
    const asked = { ...input, amount: Number(input.amount) };
    return readResult((await create({ input: asked }, requestId)).recurringPaymentCreate);
  };
  return {
    /**
     * Creates a binding's payment, or finds it. Refuses with `bad_request`, `route_not_configured`,
     * `method_unsupported` or `aml_blocked`, and then creates nothing.
     */
    askBinding: async (
      request: BindingRequest,
      requestId?: string,
    ): Promise<AskedBinding | Refusal> => {
      const asked = await ask({ ...request }, requestId);
      if ('code' in asked) return asked;
      if (asked.payUrl === null) throw new Error(`binding ${asked.payment.id} has no page`);
      return { ...asked, payUrl: asked.payUrl };
    },
    /**
     * Charges a saved method, or finds the charge. The payment is succeeded or failed when the bank
     * decided at once, else processing; `OnPaymentsMoved` then reports its end. Refuses as
     * `askBinding` does, and with `forbidden_purpose`.
     */
    askCharge: (request: ChargeRequest, requestId?: string): Promise<AskedPayment | Refusal> =>
      ask({ ...request, method: 'recurrent', verification: false }, requestId),
    /**
     * Cancels a binding's payment. Refuses with `not_pending` when the buyer has continued to the
     * bank or it is final, with `not_found` when there is none.
     */
    cancelBinding: async (
      reference: RecurringPaymentReference,
      requestId?: string,
    ): Promise<AskedPayment | Refusal> => {
      const data = await cancel({ reference: keyOf(reference) }, requestId);
      return readResult(data.recurringPaymentCancel);
    },
    /** Payments by their ids, in this order; null where there is none. */
    read: async (
      references: readonly RecurringPaymentReference[],
    ): Promise<readonly (RecurringPayment | null)[]> => {
      const data = await read({ references: references.map(keyOf) });
      return data.recurringPayments.map((payment) => payment && readPayment(payment));
    },
  };
};
export type Payments = ReturnType<typeof openPayments>;
