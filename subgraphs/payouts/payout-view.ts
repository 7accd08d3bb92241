/**
 * A payout in the public JSON. The frozen webhook body and GET /v1/public/payouts/{id} use the same
 * view.
 */
import { rfc3339 } from '../../schema/rfc3339.ts';
import { payoutJson, type PayoutFieldsFragment } from '../../schema/wire.ts';
import type { OutboxEvent } from '../platform/events/outbox.ts';
import type { Payout } from './entities.ts';
import { lastFour, maskedPhone } from '../rules/recipient.ts';
import { webhookOf } from './rules/payout.ts';

/** The stored part of a recipient, of a payout or of a draft. */
export type StoredRecipient = Pick<
  Payout,
  | 'recipientPhone'
  | 'recipientBankId'
  | 'recipientAccount'
  | 'recipientBik'
  | 'recipientInn'
  | 'recipientName'
>;

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

/** The public JSON of a payout at this moment. */
const publicPayout = (payout: Payout): ReturnType<typeof payoutJson> => {
  const view: PayoutFieldsFragment = {
    ...payout,
    amount: Number(payout.amount),
    failReason: payout.failReason ?? '',
    recipient: recipientView(payout),
    metadata: payout.metadata ?? {},
    createdAt: rfc3339(payout.createdAt),
    completedAt: payout.completedAt && rfc3339(payout.completedAt),
  };
  return payoutJson(view);
};

const subjectOf = ({ merchantId, shopId, mode, id: subjectId }: Payout) => ({
  merchantId,
  shopId,
  mode,
  subjectId,
});

/** Events of a new payout: pending, even if it was refused at once. */
export const createdEvent = (payout: Payout): OutboxEvent => ({
  ...subjectOf(payout),
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
    ...subjectOf(payout),
    stream: { kind: 'payout.status_changed', payload: { id: payout.id, status: payout.status } },
    webhook: event && { event, data: publicPayout(payout), url: null },
    at,
  };
};
