/**
 * Has a bank asked again about what it is not asked about any more by itself: a live payment,
 * refund or payout whose answer differed from what was ordered, or a payment that it had not seen.
 * Nothing is believed or moved here: the sweeps ask within a second, and the bank's answer is
 * applied as every other one.
 */
import type { BankSubject } from '../../../schema/generated/merchants.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isUuid } from '../../kernel/rules/uuid.ts';
import { clientOf } from '../../kernel/database/orm-connections.ts';
import type { Database } from '../../kernel/database/orm.ts';
import { run, type Statement } from '../../kernel/database/statement.ts';
import type { Mode } from '../../kernel/rules/mode.ts';
import { refused, type Refused } from '../../kernel/rules/refusal.ts';
import { changeEntities, type Acting, type EntryNotes, type AuditedAction } from '../audit.ts';

/** What is asked about, as it stands. */
interface Asked {
  readonly mode: Mode;
  readonly status: string;
  /** Whether the bank may say something about it that is unknown here. */
  readonly isOpen: boolean;
  readonly askAt: Temporal.Instant | null;
}

/**
 * A payment that ended unpaid, or that the bank had not seen, may have been paid after all, and
 * what a hold was ordered to become is not known yet; one whose buyer has not gone on is not at the
 * bank yet.
 */
const openPayment = `status = 'processing' or hold_order is not null or captured_at is null and
  (status in ('expired', 'cancelled') and bank_ref is not null or status = 'expired' and processing_until is not null
    or status = 'failed' and bank_ref is null and connector is not null)`;
const openOf: Readonly<Record<BankSubject, string>> = {
  payment: openPayment,
  refund: `status = 'pending'`,
  payout: `status = 'pending' or fail_reason = 'recipient_data_lost'`,
};

const lockOf = (table: BankSubject): Statement => ({
  name: `${table}.lock_to_ask`,
  text: `select mode, status, ask_at as "askAt", (${openOf[table]}) as "isOpen" from ${table} where merchant_id = $1 and id = $2 for update`,
});

// What the bank has given no reference of may be on its way there just now: that is asked about at
// its own time.
const hurryOf = (table: BankSubject): Statement => ({
  name: `${table}.ask_again`,
  text: `update ${table} set ask_at = case when ask_at is null or bank_ref is not null then least(ask_at, $3) else ask_at end
    ${table === 'payment' ? ', version = version + 1' : ''} where merchant_id = $1 and id = $2 returning ask_at as "askAt"`,
});

const subjects = ['payment', 'refund', 'payout'] as const satisfies readonly BankSubject[];
const statements = subjects.map((subject) => ({
  subject,
  lock: lockOf(subject),
  hurry: hurryOf(subject),
}));

/** When the bank is asked, and about what. */
export interface BankAskedAgain {
  readonly merchantId: string;
  readonly id: string;
  readonly subject: BankSubject;
  readonly askAt: Temporal.Instant;
}

/** Why the bank is not asked; null when it may know more. */
const obstacle = (subject: BankSubject, { mode, status, isOpen }: Asked): Refused | null => {
  if (mode === 'test')
    return refused('bad_request', `id: this ${subject} is in test mode, and no bank has it`);
  return isOpen
    ? null
    : refused('not_pending', `the ${subject} is ${status}: there is nothing to query at the bank`);
};

const askAgain = async (
  em: EntityManager,
  notes: EntryNotes,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
  now: Temporal.Instant,
): Promise<BankAskedAgain | Refused> => {
  const client = await clientOf(em);
  for (const { subject, lock, hurry } of statements) {
    const [found] = await run<Asked>(client, lock, [merchantId, id]);
    if (!found) continue;
    const stands = obstacle(subject, found);
    if (stands) return stands;
    const [hurried] = await run<{ askAt: Temporal.Instant }>(client, hurry, [merchantId, id, now]);
    if (!hurried) throw new Error(`the ${subject} ${id} was locked and is gone`);
    const { askAt } = hurried;
    notes.before = { subject, status: found.status, askAt: found.askAt };
    notes.after = { subject, askAt };
    return { merchantId, id, subject, askAt };
  }
  return refused('not_found', 'the merchant has no payment, refund or payout with this id');
};

/**
 * Asks the bank again, at once and as often as it is then planned. `id` is the payment's, the
 * refund's or the payout's, as an alert's `subjectId`. Asking twice is asking once. Refuses with
 * `not_found`, `not_pending` when its end is known, and `bad_request` in test mode.
 */
export const askBankAgain = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
): Promise<BankAskedAgain | Refused> => {
  if (!isUuid(id))
    return refused('not_found', 'the merchant has no payment, refund or payout with this id');
  const action: AuditedAction = {
    action: 'bank.ask_again',
    merchantId,
    subject: { kind: 'bank_operation', id },
  };
  return changeEntities<BankAskedAgain>(database, acting, action, (em, notes) =>
    askAgain(em, notes, { merchantId, id }, acting.now()),
  );
};
