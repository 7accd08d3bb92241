/**
 * Erases personal data from final operations: masks, names, phones, addresses and the merchant's
 * texts about a buyer or a recipient. Amounts, moments, statuses, bank references and postings
 * stay; the books hold no personal data. Frozen webhook bodies record what the merchant was sent,
 * and are removed with their month (`rules/retention`). Pending operations are left alone: a
 * bank or a buyer may still add data.
 */
import { createHash } from 'node:crypto';
import type {
  MutationResolvers,
  MutationpersonalDataEraseArgs,
  PersonalDataErased,
} from '../../../schema/generated/merchants.ts';
import { clientOf } from '../../platform/database/orm-connections.ts';
import type { Database } from '../../platform/database/orm.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import { erasedTexts } from '../../platform/graph/free-texts.ts';
import { isUuid } from '../../rules/ids.ts';
import { byVerb } from '../../platform/access/access.ts';
import { refuse, type Refusal } from '../../rules/refusal.ts';
import { changeEntities, type Acting, type AuditedAction } from '../../platform/database/audit.ts';
import { reasonMistake } from '../policies/change-policy.ts';

/** Rows of each kind that one call erases at most. */
const erased_max_rows = 1_000;

export type ErasedSubject = 'customer' | 'payment' | 'payout';

const final = `status = any (array['succeeded', 'failed', 'expired', 'cancelled', 'refunded'])`;

/** Personal data other than free texts: masks, addresses and numbers, by table. */
const alsoPersonal: Readonly<Record<string, readonly string[]>> = {
  payment: ['customer_id', 'customer_card_mask', 'customer_phone_mask', 'customer_payer_bank'],
  payout: ['recipient_phone', 'recipient_card_mask', 'recipient_account', 'recipient_inn'],
  payout_draft: ['recipient_phone', 'recipient_card_mask', 'recipient_account', 'recipient_inn'],
  token: ['customer_email', 'card_mask'],
  subscription: ['customer_email', 'customer_phone'],
};

/** SQL: replacements for columns that may not be empty, or are only partly personal. */
const leftIn: Readonly<Record<string, string>> = {
  'payment.metadata': 'chosen.metadata',
  'payment_link.metadata': 'kept_of_links.metadata',
  'token.customer_ref': `'erased'`,
  'subscription.customer_ref': `'erased'`,
  // The service's own texts for an outcome are not free text.
  'subscription.cancel_reason': `case when cancel_reason ~ '^[a-z_]+$' then cancel_reason end`,
  'refund_draft.reason': `'erased'`,
  'payment_note.text': `'erased'`,
  'alert.note': `case when note is not null then 'erased' end`,
  'reconciliation_difference.note': `case when note is not null then 'erased' end`,
};

/** SQL: empties the personal columns of a table, including its free texts (`freeTexts`). */
const emptied = (table: string): string =>
  [...(erasedTexts.get(table) ?? []), ...(alsoPersonal[table] ?? [])]
    .map((column) => `${column} = ${leftIn[`${table}.${column}`] ?? 'null'}`)
    .join(', ');

// Pairs about the buyer are removed by name; the others keep their order.
const impersonal = (metadata: string): string =>
  `coalesce((select json_object_agg(key, value) from json_each(${metadata})
    where key !~* 'customer|card|phone|mail|name|payer|holder|address'), '{}'::json)`;

// The version grows, so a decision on the old row is made again. Retained values are computed
// before the update: a shard does not evaluate them there. An active link has no customer for its
// next receipt any more, so it ends. A payout from a draft has the draft's id; the draft may also
// have no payout. What people wrote about the operations goes with them: notes of alerts and
// differences, and texts of audit entries.
const erasing: Statement = {
  name: 'erase.personal_data',
  text: `with tokens as (
      update token set ${emptied('token')}
      where merchant_id = $1 and customer_ref = $3 and status = 'cancelled' returning id
    ), subscriptions as (
      update subscription set version = version + 1, ${emptied('subscription')}
      where merchant_id = $1 and customer_ref = $3 and status = 'cancelled' returning id, receipt_terms_id
    ), terms_of_subscriptions as (
      update receipt_terms set customer_sealed = null, customer_shown = null from subscriptions
      where merchant_id = $1 and subject_id = subscriptions.receipt_terms_id
    ), of_customer as (
      select id, ${impersonal('payment.metadata')} as metadata
      from payment where merchant_id = $1 and customer_id = $3 and ${final} order by id limit ${erased_max_rows} for update
    ), named as (
      select id, ${impersonal('payment.metadata')} as metadata
      from payment where merchant_id = $1 and id = $4::uuid and ${final} for update
    ), chosen as (select * from of_customer union all select * from named
    ), payments as (
      update payment set version = payment.version + 1, ${emptied('payment')}
      from chosen where payment.merchant_id = $1 and payment.id = chosen.id returning payment.id, payment.receipt_terms_id
    ), simulated as (
      update simulator_operation as operation set card_mask = null, card_holder = null from payments
      where operation.merchant_id = $1 and operation.operation_id = payments.id
    ), terms as (
      update receipt_terms set customer_sealed = null, customer_shown = null from payments
      where receipt_terms.merchant_id = $1 and receipt_terms.payment_id = payments.id
    ), kept_of_links as (
      select payment_link.id, json_build_object('customer', null, 'taxSystem', receipt->'taxSystem', 'items', receipt->'items') as receipt,
        ${impersonal('payment_link.metadata')} as metadata, case status when 'active' then 'deactivated' else status end as status,
        case status when 'active' then $2::timestamptz else finalized_at end as finalized_at
      from payment_link join payments on payment_link.id = payments.receipt_terms_id where payment_link.merchant_id = $1
      for update of payment_link
    ), links as (
      update payment_link set receipt = kept_of_links.receipt, status = kept_of_links.status, finalized_at = kept_of_links.finalized_at, ${emptied('payment_link')}
      from kept_of_links where payment_link.merchant_id = $1 and payment_link.id = kept_of_links.id
      returning payment_link.id
    ), terms_of_links as (
      update receipt_terms set customer_sealed = null, customer_shown = null from links
      where receipt_terms.merchant_id = $1 and receipt_terms.subject_id = links.id
    ), receipts as (
      update receipt set customer_shown = null, version = receipt.version + 1 from payments
      where receipt.merchant_id = $1 and receipt.payment_id = payments.id returning receipt.id
    ), notes as (
      update payment_note set ${emptied('payment_note')} from payments
      where payment_note.merchant_id = $1 and payment_note.payment_id = payments.id
    ), refund_drafts as (
      update refund_draft set ${emptied('refund_draft')} from payments
      where refund_draft.merchant_id = $1 and refund_draft.payment_id = payments.id returning refund_draft.id
    ), refunds as (
      update refund set ${emptied('refund')} from payments
      where refund.merchant_id = $1 and refund.payment_id = payments.id returning refund.id
    ), payouts as (
      update payout set ${emptied('payout')}
      where merchant_id = $1 and id = $5::uuid and ${final} returning id
    ), payout_drafts as (
      update payout_draft set ${emptied('payout_draft')}
      where merchant_id = $1 and id = $5::uuid and status <> 'pending'
        and not exists (select 1 from payout where merchant_id = $1 and id = $5::uuid and not ${final}) returning id
    ), about as (
      select id from tokens union all select id from subscriptions union all select id from payments
      union all select id from refunds union all select id from receipts union all select id from links
      union all select id from refund_drafts union all (select id from payouts union select id from payout_drafts)
    ), alerts as (
      update alert set ${emptied('alert')} from about
      where alert.merchant_id = $1 and alert.subject_id = about.id::text returning alert.id
    ), differences as (
      update reconciliation_difference set ${emptied('reconciliation_difference')} from about
      where reconciliation_difference.merchant_id = $1 and reconciliation_difference.operation_id = about.id returning reconciliation_difference.id
    ), written as (
      delete from audit_text using (select id from about union all select id from alerts union all select id from differences) as gone
      where audit_text.merchant_id = $1 and audit_text.subject_id = gone.id::text
    )
    select (select count(*) from payments)::int as payments, greatest((select count(*) from payouts), (select count(*) from payout_drafts))::int as payouts,
      (select count(*) from tokens)::int as tokens, (select count(*) from subscriptions)::int as subscriptions,
      ((select count(*) from payment where merchant_id = $1 and customer_id = $3 and not ${final})
        + (select count(*) from token where merchant_id = $1 and customer_ref = $3 and status <> 'cancelled')
        + (select count(*) from subscription where merchant_id = $1 and customer_ref = $3 and status <> 'cancelled')
        + (select count(*) from payment where merchant_id = $1 and id = $4::uuid and not ${final})
        + (select count(*) from payout where merchant_id = $1 and id = $5::uuid and not ${final})
        + (select count(*) from payout_draft where merchant_id = $1 and id = $5::uuid and status = 'pending'))::int as left`,
};

const erase = async (
  client: Runner,
  merchantId: string,
  { subject, id }: { readonly subject: ErasedSubject; readonly id: string },
  at: Temporal.Instant,
): Promise<PersonalDataErased> => {
  const named = (['customer', 'payment', 'payout'] as const).map((one) =>
    one === subject ? id : null,
  );
  const [row] = await run<Omit<PersonalDataErased, 'hasMore'>>(client, erasing, [
    merchantId,
    at,
    ...named,
  ]);
  if (!row) throw new Error('a count has one row');
  return { ...row, hasMore: row.payments === erased_max_rows };
};

/**
 * A customer's reference is personal, and the log is permanent. The entry stores a digest: the
 * reference still finds it.
 */
const inLog = (subject: ErasedSubject, id: string): string =>
  subject === 'customer'
    ? createHash('sha256').update(id).digest('hex').slice(0, 16)
    : id.toLowerCase();

/**
 * Erases the personal data of a customer (by the merchant's reference, 1,000 payments a call), of a
 * payment or of a payout (by id). Idempotent. Refuses with `not_found` an unknown subject, and with
 * `bad_request` an empty reason.
 */
export const erasePersonalData = async (
  database: Pick<Database, 'emOf'>,
  acting: Acting,
  { merchantId, subject, id, reason }: MutationpersonalDataEraseArgs,
): Promise<PersonalDataErased | Refusal> => {
  const mistake = reasonMistake(reason);
  if (mistake) return mistake;
  const none = refuse('not_found', `there is no such ${subject}`);
  if (subject !== 'customer' && !isUuid(id)) return none;
  const action: AuditedAction = {
    action: 'personal_data.erase',
    merchantId,
    id: inLog(subject, id),
    kind: subject,
  };
  return changeEntities<PersonalDataErased>(database, acting, action, async (em, notes) => {
    const erased = await erase(await clientOf(em), merchantId, { subject, id }, acting.now());
    const { hasMore, ...counts } = erased;
    if (Object.values(counts).every((count) => count === 0)) return none;
    notes.after = { ...counts, hasMore, reason };
    return erased;
  });
};

// GraphQL resolver for erasing personal data.

/** The mutation that erases; it writes an audit entry. */
export const eraseMutations = ({ database }: { readonly database: Database }) =>
  ({
    personalDataErase: byVerb('PersonalDataErased', erasePersonalData, database),
  }) satisfies MutationResolvers;
