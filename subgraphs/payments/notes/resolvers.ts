/** Notes on payments: from GraphQL to a verb, and back. */
import type pg from 'pg';
import type { MutationResolvers } from '../../../schema/generated/payments.ts';
import { isRefusal, refuse, type Refusal, textMistake } from '../../rules/refusal.ts';
import { refusal } from '../../platform/access/access.ts';
import { callerOf, type PersonCaller, type PaymentsDeps } from '../parts.ts';
import { type PaymentNote, PaymentNoteEntity } from '../entities.ts';
import { note_max_chars } from '../../../schema/limits.ts';
import { writeEntry, type Acting, type AuditedAction } from '../../platform/database/audit.ts';
import {
  claimOf,
  createOnce,
  type Created,
  type IdempotencyArgument,
} from '../../platform/database/idempotency.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import { newRowId, columns, propertyNames } from '../../platform/database/statement.ts';
import { lockPayment } from '../lock-payment.ts';
import { openFindOfPayments } from '../store-payment.ts';
import { rowsOfPayment } from '../find-payments.ts';

/* Adds a person's note to a payment, and reads the notes of payments. */

/** Notes of one payment; also a constraint of the table. */
const notes_max = 100;

/** The notes of payments, oldest first. */
const findNotes = openFindOfPayments<PaymentNote>(
  'payment_note',
  columns(propertyNames(PaymentNoteEntity)),
  'number',
);

interface NoteRequest {
  readonly paymentId: string;
  readonly text: string;
  readonly requestId: string;
  readonly idempotency: IdempotencyArgument;
}

/**
 * Adds a note, or finds the one that an earlier call with the same idempotency key added. Refuses
 * with `not_found`, `bad_request` (the text, too many notes), or about the key.
 */
const addNote = async (
  pool: pg.Pool,
  caller: PersonCaller,
  { paymentId, text, requestId, idempotency }: NoteRequest,
  at: Temporal.Instant,
): Promise<Created<PaymentNote> | Refusal> => {
  const { merchantId, principal } = caller;
  const claim = claimOf(idempotency, 'paymentNoteAdd', { paymentId, text });
  if (isRefusal(claim)) return claim;
  const mistake = textMistake('text', text.trim(), 1, note_max_chars);
  if (mistake) return refuse('bad_request', mistake);
  const key = { merchantId, paymentId };
  const find = async (id: string): Promise<PaymentNote | null> =>
    (await findNotes(pool, [{ merchantId, id: paymentId }])).find((note) => note.id === id) ?? null;
  const creation = { caller, claim, resourceId: newRowId(), at, find };
  return createOnce(pool, creation, async (client): Promise<PaymentNote | Refusal> => {
    // Under the payment's lock: its notes are counted one after the other.
    const locked = await lockPayment(client, key, at);
    if (!locked) return refuse('not_found', 'there is no such payment');
    const em = emOn(client);
    const count = await em.count(PaymentNoteEntity, key);
    if (count >= notes_max)
      return refuse('bad_request', `a payment has at most ${notes_max} notes`);
    const written = { author: principal.subject, createdAt: at, text: text.trim() };
    const note = { ...key, number: count + 1, id: creation.resourceId, ...written };
    await em.insert(PaymentNoteEntity, note);
    const acting: Acting = { principal, requestId, now: () => at };
    const action: AuditedAction = { action: 'payment.note', merchantId, id: paymentId };
    const after = { payment: locked.payment.publicId, number: note.number };
    await writeEntry(client, acting, action, { before: null, after });
    return note;
  });
};

export const notesOf = ({ database }: Pick<PaymentsDeps, 'database'>) =>
  rowsOfPayment(database.pool, findNotes);

/** The mutation by which people write. */
export const noteMutations = (deps: PaymentsDeps): MutationResolvers => ({
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
