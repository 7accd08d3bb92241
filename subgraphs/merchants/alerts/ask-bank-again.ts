/**
 * Queries a bank again about something that is no longer queried automatically: a live payment,
 * refund or payout whose answer differed from the order, or a payment that the bank had not seen.
 * This file changes no state. The sweeps query the bank within a second and apply its answer as
 * usual.
 */
import type {
  BankAskedAgain,
  BankSubject,
  MutationbankAskAgainArgs,
} from '../../../schema/generated/merchants.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isUuid } from '../../rules/ids.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Statement } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import {
  changeEntities,
  type Acting,
  type EntryNotes,
  type AuditedAction,
} from '../../platform/database/audit.ts';

/** The subject of the query, in its current state. */
interface Asked {
  readonly mode: Mode;
  readonly status: string;
  /** Whether the bank may know something that we do not. */
  readonly isOpen: boolean;
  readonly askAt: Temporal.Instant | null;
  /** When it is queried now; null when it is not. */
  readonly askedAt: Temporal.Instant | null;
}

/**
 * A payment that ended unpaid, or that the bank had not seen, may have been paid since. The outcome
 * of a hold's order may be unknown. A payment whose buyer has not continued has not reached the
 * bank.
 */
const openPayment = `status = 'processing' or hold_order is not null or captured_at is null and
  (status in ('expired', 'cancelled') and bank_ref is not null or status = 'expired' and processing_until is not null
    or status = 'failed' and bank_ref is null and connector is not null)`;
const openOf: Readonly<Record<BankSubject, string>> = {
  payment: openPayment,
  refund: `status = 'pending'`,
  payout: `status = 'pending' or fail_reason = 'recipient_data_lost'`,
};

// Without a bank reference, the request may still be on its way; it is queried on its own schedule.
const askNowOf = (table: BankSubject): Statement => ({
  name: `${table}.ask_again`,
  text: `with found as (
      select id, mode, status, ask_at, (${openOf[table]}) as is_open from ${table} where merchant_id = $1 and id = $2 for update
    ), asked as (
      update ${table} set ask_at = case when ${table}.ask_at is null or bank_ref is not null then least(${table}.ask_at, $3) else ${table}.ask_at end
        ${table === 'payment' ? ', version = version + 1' : ''}
      from found where ${table}.merchant_id = $1 and ${table}.id = found.id and found.mode = 'live' and found.is_open
      returning ${table}.ask_at
    )
    select mode, status, ask_at as "askAt", is_open as "isOpen", (select ask_at from asked) as "askedAt" from found`,
});

const subjects = ['payment', 'refund', 'payout'] as const satisfies readonly BankSubject[];
const statements = subjects.map((subject) => ({ subject, askNow: askNowOf(subject) }));

/** Why the bank is not queried; null when it may know more. */
const obstacle = (subject: BankSubject, { mode, status, isOpen }: Asked): Refusal | null => {
  if (mode === 'test')
    return refuse('bad_request', `id: this ${subject} is in test mode, and no bank has it`);
  return isOpen
    ? null
    : refuse('not_pending', `the ${subject} is ${status}: there is nothing to query at the bank`);
};

const askAgain = async (
  em: EntityManager,
  notes: EntryNotes,
  { merchantId, id }: MutationbankAskAgainArgs,
  now: Temporal.Instant,
): Promise<BankAskedAgain | Refusal> => {
  const client = await clientOf(em);
  for (const { subject, askNow } of statements) {
    const [found] = await run<Asked>(client, askNow, [merchantId, id, now]);
    if (!found) continue;
    const { askedAt: askAt } = found;
    const stands = obstacle(subject, found);
    if (stands) return stands;
    if (!askAt) throw new Error(`the ${subject} ${id} was locked and is gone`);
    notes.before = { subject, status: found.status, askAt: found.askAt };
    notes.after = { subject, askAt };
    return { merchantId, id, subject, askAt };
  }
  return refuse('not_found', 'the merchant has no payment, refund or payout with this id');
};

/**
 * Queries the bank at once, and then on the usual schedule. `id` is the id of the payment, refund
 * or payout, as in an alert's `subjectId`. Repeating the call has no further effect. Refuses with
 * `not_found`, `not_pending` when the outcome is known, and `bad_request` in test mode.
 */
export const askBankAgain = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  { merchantId, id }: MutationbankAskAgainArgs,
): Promise<BankAskedAgain | Refusal> => {
  if (!isUuid(id))
    return refuse('not_found', 'the merchant has no payment, refund or payout with this id');
  const action: AuditedAction = {
    action: 'bank.ask_again',
    merchantId,
    id,
    kind: 'bank_operation',
  };
  return changeEntities<BankAskedAgain>(database, acting, action, (em, notes) =>
    askAgain(em, notes, { merchantId, id }, acting.now()),
  );
};
