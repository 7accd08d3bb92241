/** Tables of the payouts subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { DraftStatus } from '../platform/drafts/rules.ts';
import { draftColumns } from '../platform/drafts/drafts.ts';
import type { FailureCode } from '../rules/failure-code.ts';
import type { Mode } from '../rules/mode.ts';
import type { PayoutMethod, PayoutStatus } from './rules/payout.ts';

/** Whom a payout pays; the columns of other methods are null. */
const recipientColumns = () => ({
  recipientPhone: p.text().strictNullable(),
  recipientBankId: p.text().strictNullable(),
  recipientName: p.text().strictNullable(),
  /** Last 4 digits: the only stored part of a card's number. */
  recipientCardMask: p.text().strictNullable(),
  recipientAccount: p.text().strictNullable(),
  recipientBik: p.text().strictNullable(),
  recipientInn: p.text().strictNullable(),
});

export const PayoutEntity = defineEntity({
  name: 'Payout',
  tableName: 'payout',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    terminalId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<PayoutMethod>(),
    status: p.text().$type<PayoutStatus>(),
    failReason: p.text().$type<FailureCode>().strictNullable(),
    ...recipientColumns(),
    bankRef: p.text().strictNullable(),
    /** The merchant's own number of the order. */
    orderId: p.text().strictNullable(),
    /** The merchant's own pairs, in their original order; null: none. */
    metadata: p.json<Record<string, string>>().columnType('json').strictNullable(),
    createdAt: instant(),
    completedAt: instant().strictNullable(),
    /** The fee on success, fixed at creation and reserved with the amount. */
    fee: p.bigint(),
    /** The bank that has it, or will receive it. */
    connector: p.text().strictNullable(),
    /** When the order was first sent, or about to be; null: the bank has not seen it. */
    sentAt: instant().strictNullable(),
    /** When to order or query next; null when nothing is scheduled. */
    askAt: instant().strictNullable(),
  },
});
export type Payout = Row<InferEntity<typeof PayoutEntity>>;

export type StoredRecipient = Pick<Payout, keyof ReturnType<typeof recipientColumns>>;

/** A proposed payout. The payout created from it has its id. */
export const PayoutDraftEntity = defineEntity({
  name: 'PayoutDraft',
  tableName: 'payout_draft',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    amount: p.bigint(),
    currency: p.text(),
    method: p.text().$type<PayoutMethod>(),
    status: p.text().$type<DraftStatus>(),
    ...recipientColumns(),
    /**
     * Of the card's number, keyed and bound to the draft: the approver types the number again. Null
     * once the draft is decided.
     */
    recipientCardDigest: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    /** What drafts that were proposed together have in common, such as the lines of a file. */
    batchId: p.uuid().strictNullable(),
    ...draftColumns(),
  },
});
export type PayoutDraft = Row<InferEntity<typeof PayoutDraftEntity>>;

export const payoutsEntities = [PayoutEntity, PayoutDraftEntity];
