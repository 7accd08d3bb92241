/** Notes on payments: from GraphQL to a verb, and back. */
import type { MutationResolvers } from '../../../schema/generated/payments.ts';
import { isRefusal } from '../../rules/refusal.ts';
import { refusal } from '../../platform/access/reach.ts';
import { perCall } from '../../platform/graph/per-call.ts';
import { callerOf } from '../caller.ts';
import type { Payment } from '../entities.ts';
import type { PaymentsDeps } from '../parts.ts';
import { addNote, findNotes } from './add-note.ts';
import type { PaymentNote } from './entities.ts';

/** The notes of a payment, for all payments of a list at once. */
export const notesOf = ({ database }: Pick<PaymentsDeps, 'database'>) =>
  perCall<Payment, PaymentNote[]>(async (payments, { meter }) => {
    const found = await findNotes(database.pool, payments, meter?.rows_max ?? null);
    const byPayment = Map.groupBy(found, ({ paymentId }) => paymentId);
    return payments.map(({ id }) => byPayment.get(id) ?? []);
  });

/** The mutation by which people write. */
export const noteMutations = (deps: PaymentsDeps): Pick<MutationResolvers, 'paymentNoteAdd'> => ({
  paymentNoteAdd: async (
    _,
    { id, text, idempotency, merchantId },
    { principal, requestId, now },
  ) => {
    const calling = await callerOf(deps, principal, { id, merchantId }, now);
    if (isRefusal(calling)) return calling;
    const { caller, now: at } = calling;
    // The access row refuses other callers; this only narrows the type.
    if (caller.kind !== 'person') throw refusal('scope_required', 'this operation is for people');
    const asked = { paymentId: id, text, requestId, idempotency };
    const added = await addNote(deps.database.pool, caller, asked, at);
    if (isRefusal(added)) return added;
    return { __typename: 'PaymentNoteAdded', note: added.made, idempotent: added.replayed };
  },
});
