/**
 * How recurring billing asks payments: from GraphQL to a verb, and back. The access table lets only
 * the service itself in.
 */
import type {
  MutationResolvers,
  QueryResolvers,
  RecurringPaymentResolvers,
} from '../../../schema/generated/payments.ts';
import { isUuid } from '../../rules/ids.ts';
import { isBinding } from '../../rules/recurring.ts';
import { isRefusal, refuse } from '../../rules/refusal.ts';
import { cancelPayment } from '../cancel-payment.ts';
import { pageAddress } from '../../platform/graph/page-address.ts';
import type { Payment, RecurringPayment } from '../entities.ts';
import { loadPayments } from '../find-payments.ts';
import { createRecurringPayment } from './create-payment.ts';
import type { PaymentsDeps } from '../parts.ts';

const asRecurring = (payment: Payment | null | undefined): RecurringPayment | null => {
  if (!payment?.kind || !payment.tokenId) return null;
  return { ...payment, kind: payment.kind, tokenId: payment.tokenId };
};

const answer = (
  deps: PaymentsDeps,
  made: Payment,
  replayed: boolean,
): {
  readonly __typename: 'RecurringPaymentAsked';
  payment: RecurringPayment;
  payUrl: string | null;
  replayed: boolean;
} => {
  const payment = asRecurring(made);
  if (!payment) throw new Error(`payment ${made.id} is of no saved method`);
  const { merchantId, id: paymentId, kind } = payment;
  const payUrl = isBinding(kind) ? pageAddress(deps, { merchantId, paymentId }) : null;
  return { __typename: 'RecurringPaymentAsked', payment, payUrl, replayed };
};

/** The card's fields, as the payment has them. */
export const recurringFields: Pick<
  RecurringPaymentResolvers,
  'cardBrand' | 'cardMask' | 'cardHolder'
> = {
  cardBrand: ({ customerCardBrand }) => customerCardBrand,
  cardMask: ({ customerCardMask }) => customerCardMask,
  cardHolder: ({ customerCardHolder }) => customerCardHolder,
};

/** The query behind which recurring billing reads its payments. */
export const recurringQueries = ({
  database,
}: PaymentsDeps): Pick<QueryResolvers, 'recurringPayments'> => ({
  recurringPayments: async (_, { references }) =>
    (await loadPayments(database.pool, references)).map(asRecurring),
});

/** The mutations by which recurring billing has payments made and cancelled. */
export const recurringMutations = (
  deps: PaymentsDeps,
): Pick<MutationResolvers, 'recurringPaymentCreate' | 'recurringPaymentCancel'> => ({
  recurringPaymentCreate: async (_, { input }) => {
    const { clocks, wakeRelay, askLater } = deps;
    if (![input.merchantId, input.shopId, input.tokenId].every(isUuid))
      return refuse('not_found', 'there is no such shop');
    const { merchantId, shopId, mode } = input;
    const now = await clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
    const made = await createRecurringPayment(
      { ...deps, policies: await deps.policies.current() },
      input,
      now,
    );
    if (isRefusal(made)) return made;
    const { payment, replayed } = made;
    if (!replayed) wakeRelay();
    const { askAt } = payment;
    if (!replayed && askAt) askLater(payment.id, askAt.epochMilliseconds - now.epochMilliseconds);
    return answer(deps, payment, replayed);
  },
  recurringPaymentCancel: async (_, { reference }) => {
    const [found] = await loadPayments(deps.database.pool, [reference]);
    if (!found || !isBinding(found.kind)) return refuse('not_found', 'there is no such binding');
    const { merchantId, shopId, mode, id } = found;
    const now = await deps.clocks.timeOf({ kind: 'shop', merchantId, shopId, mode });
    const payment = await cancelPayment(deps.database, found, id, now);
    if (isRefusal(payment)) return payment;
    deps.wakeRelay();
    return answer(deps, payment, false);
  },
});
