/** Reads payouts: by id, by reference, as a list. */
import { rfc3339 } from '../../schema/scalars.ts';
import { payoutJson } from '../../schema/wire.ts';
import { loadByKey } from '../platform/database/batch-calls.ts';
import { type FoundPage, openList } from '../platform/database/lists.ts';
import type { ListTable } from '../platform/database/list-statements.ts';
import {
  columns,
  propertyNames,
  run,
  type Runner,
  type Statement,
} from '../platform/database/statement.ts';
import type { OutboxEvent } from '../platform/events/outbox.ts';
import type { OfMode } from '../platform/graph/entities.ts';
import { asSubject } from '../rules/event.ts';
import { lastFour, maskedPhone } from '../rules/recipient.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { PayoutInput } from './rules/create.ts';
import { payoutMethods, payoutStatuses, webhookOf } from './rules/payout.ts';
import { PayoutEntity, type Payout, type StoredRecipient } from './entities.ts';

/** Every column of a payout, by its property's name. */
export const payoutNames = propertyNames(PayoutEntity);
const payoutColumns = columns(payoutNames);

export const loadPayouts = loadByKey<Payout>('payout', payoutColumns);

export const payoutTable: ListTable = {
  name: 'payout',
  filters: { status: payoutStatuses, method: payoutMethods },
};

export type PayoutPage = FoundPage<Payout>;

/** Payouts as lists show them: a merchant's, filtered, or those of all merchants. */
export const pageOfPayouts = openList<Payout>({ table: payoutTable, columns: payoutColumns });

/** The whole recipient, without other methods' fields. */
export const recipientView = (payout: StoredRecipient) => ({
  phone: payout.recipientPhone,
  bankId: payout.recipientBankId,
  accountNumber: payout.recipientAccount,
  bik: payout.recipientBik,
  inn: payout.recipientInn,
  fullName: payout.recipientName,
});

/** The recipient as people see it until they reveal it. */
export const maskedRecipient = (payout: StoredRecipient): ReturnType<typeof recipientView> => {
  const whole = recipientView(payout);
  return {
    ...whole,
    phone: whole.phone && maskedPhone(whole.phone),
    accountNumber: lastFour(whole.accountNumber),
    inn: lastFour(whole.inn),
  };
};

/** The public JSON of a payout, as GET /v1/public/payouts/{id} answers it and webhooks freeze it. */
const publicPayout = (payout: Payout): ReturnType<typeof payoutJson> =>
  payoutJson({
    id: payout.id,
    merchant_id: payout.merchantId,
    shop_id: payout.shopId,
    terminal_id: payout.terminalId,
    amount: Number(payout.amount),
    currency: payout.currency,
    method: payout.method,
    status: payout.status,
    fail_reason: payout.failReason ?? '',
    recipient: {
      phone: payout.recipientPhone,
      bank_id: payout.recipientBankId,
      account_number: payout.recipientAccount,
      bik: payout.recipientBik,
      inn: payout.recipientInn,
      full_name: payout.recipientName,
    },
    recipient_card_mask: payout.recipientCardMask,
    bank_ref: payout.bankRef,
    order_id: payout.orderId,
    metadata: payout.metadata ?? {},
    created_at: rfc3339(payout.createdAt),
    completed_at: payout.completedAt && rfc3339(payout.completedAt),
  });

/** Events of a new payout: pending, even if it was refused at once. */
export const createdEvent = (payout: Payout): OutboxEvent => ({
  ...asSubject(payout),
  stream: {
    kind: 'payout.created',
    payload: { id: payout.id, amount: Number(payout.amount), status: 'pending' },
  },
  webhook: {
    event: 'payout.created',
    data: publicPayout({ ...payout, status: 'pending', failReason: null, completedAt: null }),
    url: null,
  },
  at: payout.createdAt,
});

/** The events of a new status: to the stream, and to webhooks when it is final. */
export const statusEvent = (payout: Payout, at: Temporal.Instant): OutboxEvent => {
  const event = webhookOf(payout.status);
  return {
    ...asSubject(payout),
    stream: { kind: 'payout.status_changed', payload: { id: payout.id, status: payout.status } },
    webhook: event && { event, data: publicPayout(payout), url: null },
    at,
  };
};

// Recipients that were paid before: they are paid again without typing a phone or an account.

/** Payouts of a shop and method that are looked at, and recipients that are returned. */
const looked_max = 1_000;
const recipients_max = 200;

// Each shop and method is a range of the index payout_filter. Erased recipients have no address.
const paid: Statement = {
  name: 'payout.paid_recipients',
  text: `select ${columns(payoutNames, 'latest')} from (
      select distinct on (found.method, coalesce(found.recipient_phone, found.recipient_account), coalesce(found.recipient_bank_id, found.recipient_bik)) found.*
      from shop cross join (values ('payouts_sbp'), ('payouts_account')) as way (method) cross join lateral (
        select * from payout where payout.merchant_id = $1 and payout.shop_id = shop.id and payout.mode = $2 and payout.status = 'succeeded'
          and payout.method = way.method order by payout.created_at desc, payout.id desc limit ${looked_max}) as found
      where shop.merchant_id = $1 and coalesce(found.recipient_phone, found.recipient_account) is not null
      order by found.method, coalesce(found.recipient_phone, found.recipient_account), coalesce(found.recipient_bank_id, found.recipient_bik), found.created_at desc
    ) as latest order by latest.created_at desc, latest.id desc limit ${recipients_max}`,
};

/** The newest successful payout to each of them, newest first. */
export const findPaidRecipients = (
  runner: Runner,
  { merchantId, mode }: OfMode,
): Promise<Payout[]> => run<Payout>(runner, paid, [merchantId, mode]);

export interface Again extends OfMode {
  /** An earlier payout, whose recipient is paid again; null: the input has the recipient. */
  readonly recipientOf: string | null;
  readonly input: PayoutInput;
}

export const inputAgain = async (
  runner: Runner,
  { merchantId, mode, recipientOf, input }: Again,
): Promise<PayoutInput | Refusal> => {
  if (recipientOf === null) return input;
  const { amount, currency, orderId, metadata, method: _, ...other } = input;
  if (Object.values(other).some((value) => value !== null && value !== undefined))
    return refuse('bad_request', 'input: expected an amount alone beside recipientOf');
  const [payout] = await loadPayouts(runner, [{ merchantId, id: recipientOf }]);
  const recipient = payout && recipientView(payout);
  if (payout?.mode !== mode || (recipient?.phone ?? recipient?.accountNumber ?? null) === null)
    return refuse('not_found', 'there is no such recipient');
  return { amount, currency, orderId, metadata, method: payout.method, ...recipient };
};
