/**
 * Tables of the platform: events and the outbox, idempotency keys, merchants and their shops. Their
 * keys start with the merchant, so that a merchant's rows share a shard.
 */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { rateBurst_default, ratePerSecond_default } from '../../../schema/limits.ts';
import { instant } from './instant.ts';
import type { Row } from './statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { LiveKind, WebhookEvent, Consumer } from '../../rules/event.ts';

/** Something that happened. The outbox is the part of the table that has no sequence yet. */
export const EventEntity = defineEntity({
  name: 'Event',
  tableName: 'event',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** The order of writing. */
    position: p.bigint().autoincrement(),
    /** The order of the stream, assigned by the relay; null while in the outbox. */
    sequence: p.bigint().nullable(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    /** The payment, payout or refund. */
    subjectId: p.uuid(),
    /** The stream's side; null when the event is not on the stream. */
    streamKind: p.text().$type<LiveKind>().nullable(),
    payload: p.json<Record<string, unknown>>().nullable(),
    /** The webhook's side: frozen bytes; null when there is no webhook. */
    webhookEvent: p.text().$type<WebhookEvent>().nullable(),
    webhookBody: p.text().nullable(),
    /** The payment's own target. */
    webhookUrl: p.text().nullable(),
    /** The part of the service that must process it; null for most. */
    consumer: p.text().$type<Consumer>().fieldName('follower').nullable(),
    /** Its partition: a part of the key, though the id alone is unique. */
    createdAt: instant().primary(),
  },
});

/**
 * How far a consumer has come in the event log. The effects of the events up to there were
 * committed with it.
 */
export const ConsumerOffsetEntity = defineEntity({
  name: 'ConsumerOffset',
  tableName: 'consumer_offset',
  properties: {
    consumer: p.text().$type<Consumer>().primary(),
    sequence: p.bigint(),
  },
});

/** An event whose effects failed, until they succeed. */
export const ConsumerRetryEntity = defineEntity({
  name: 'ConsumerRetry',
  tableName: 'consumer_retry',
  properties: {
    merchantId: p.uuid().primary(),
    consumer: p.text().$type<Consumer>().primary(),
    sequence: p.bigint().primary(),
    subjectId: p.uuid(),
    tries: p.integer(),
    dueAt: instant(),
  },
});

/** A merchant's row on which a background task failed: skipped until it is due (`dead-letters.ts`). */
export const DeadLetterEntity = defineEntity({
  name: 'DeadLetter',
  tableName: 'dead_letter',
  properties: {
    merchantId: p.uuid().primary(),
    task: p.text().primary(),
    /** The row's id, or another identifier of it, within the merchant. */
    subjectId: p.text().primary(),
    tries: p.integer(),
    dueAt: instant(),
  },
});

/** One idempotency key of a merchant in a mode. */
export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    merchantId: p.uuid().primary(),
    mode: p.text().$type<Mode>().primary(),
    key: p.text().primary(),
    /** SHA-256 of the request. */
    fingerprint: p.text(),
    shopId: p.uuid(),
    resourceId: p.uuid(),
    createdAt: instant(),
    /** The request: the method and the path, or the mutation. */
    request: p.text(),
    /** In real time: while the claiming call is still getting its answer. Null: it has it. */
    askingUntil: instant().nullable(),
  },
});

/** A key that lives longer than a secret key, sealed (`kept-keys.ts`). */
export const KeptKeyEntity = defineEntity({
  name: 'KeptKey',
  tableName: 'kept_key',
  properties: {
    purpose: p.text().$type<'fingerprint' | 'service' | 'customer'>().primary(),
    /** The id of the vault's key of the same secret key. */
    generation: p.text().primary(),
    sealed: p.text(),
  },
});

export const MerchantEntity = defineEntity({
  name: 'Merchant',
  tableName: 'merchant',
  properties: {
    id: p.uuid().primary(),
    name: p.text().groups('audit'),
    legalName: p.text().strictNullable().groups('profile'),
    inn: p.text().strictNullable().groups('profile'),
    contactEmail: p.text().strictNullable().groups('profile'),
    contactPhone: p.text().strictNullable().groups('profile'),
    siteUrl: p.text().strictNullable().groups('profile'),
    offerUrl: p.text().strictNullable().groups('profile'),
    liveEnabled: p.boolean().groups('audit'),
    /** Null, like the burst: the default applies. */
    ratePerSecond: p
      .integer()
      .strictNullable()
      .groups('rateLimit')
      .serializedName('perSecond')
      .serializer((perSecond) => perSecond ?? ratePerSecond_default),
    rateBurst: p
      .integer()
      .strictNullable()
      .groups('rateLimit')
      .serializedName('burst')
      .serializer((burst) => burst ?? rateBurst_default),
    /** What support may refund of a payment by itself, in minor units. */
    supportRefundMax: p.bigint().defaultRaw('0').groups('supportRefund'),
    createdAt: instant(),
  },
});
export type Merchant = Row<InferEntity<typeof MerchantEntity>>;

/**
 * A shop, which is also a terminal. The merchants subgraph alone writes it; the others read its
 * names when they freeze them.
 */
export const ShopEntity = defineEntity({
  name: 'Shop',
  tableName: 'shop',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    name: p.text().groups('audit'),
    terminalId: p.uuid(),
    terminalName: p.text().groups('audit'),
    /** The shop-level `whs_` secret, encrypted. */
    webhookSecretSealed: p.text().hidden(),
    /**
     * The secret before the last rotation, and until when it signs together with the new one; null
     * without an overlap.
     */
    previousWebhookSecretSealed: p.text().strictNullable().hidden(),
    previousWebhookUntil: instant()
      .strictNullable()
      .groups('rotation')
      .serializedName('previousUntil'),
    /** Whether its keys must sign every request. */
    requireSignature: p.boolean().default(false).groups('protection'),
    /** Whether a signature must be over the whole request. */
    requireBoundSignature: p.boolean().default(false).groups('protection'),
    /**
     * The `thm_` secret that requests are signed with, encrypted; null until the first one is made.
     */
    signingSecretSealed: p
      .text()
      .strictNullable()
      .groups('protection')
      .serializedName('signingSecret')
      .serializer((sealed: string | null) => (sealed === null ? null : '[secret]')),
    /** Addresses and CIDR blocks that may use its keys; empty: all addresses. */
    allowList: p.array().columnType('text[]').defaultRaw("'{}'").groups('protection'),
    /** Whether nothing is sold without a receipt. */
    receiptsRequired: p.boolean().default(false).groups('receipts'),
    createdAt: instant(),
  },
});
export type Shop = Row<InferEntity<typeof ShopEntity>>;

/** The trace in which a payment, refund or payout was made (`subject-trace.ts`). */
export const SubjectTraceEntity = defineEntity({
  name: 'SubjectTrace',
  tableName: 'subject_trace',
  properties: {
    merchantId: p.uuid().primary(),
    subjectId: p.uuid().primary(),
    traceparent: p.text(),
    createdAt: instant(),
  },
});

/** The texts of an entry's states, by their names. */
export interface AuditTexts {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

/** One action in the cabinet or by an operator: append-only. The zero merchant is the platform. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    at: instant(),
    /** The operator's subject, the key's id or the service's name. */
    actor: p.text(),
    role: p.text(),
    action: p.text(),
    subjectKind: p.text(),
    subjectId: p.text(),
    before: p.json<Record<string, unknown>>().strictNullable(),
    after: p.json<Record<string, unknown>>().strictNullable(),
    requestId: p.text(),
    /** By the database's clock; selects the partition. */
    writtenAt: instant().primary().defaultRaw('now()'),
  },
  triggers: [
    {
      name: 'append_only',
      timing: 'before',
      events: ['update', 'delete'],
      forEach: 'statement',
      body: "raise exception 'audit entries are append-only'",
    },
  ],
});
export type AuditEntry = Row<InferEntity<typeof AuditEntryEntity>>;

/**
 * Texts that people wrote for an entry. They are stored separately: entries are permanent, and a
 * text may have to be erased.
 */
export const AuditTextEntity = defineEntity({
  name: 'AuditText',
  tableName: 'audit_text',
  properties: {
    merchantId: p.uuid().primary(),
    entryId: p.uuid().primary(),
    /** The entry's. */
    subjectId: p.text(),
    texts: p.json<AuditTexts>().columnType('json'),
  },
});

export const platformEntities = [
  AuditEntryEntity,
  AuditTextEntity,
  EventEntity,
  ConsumerOffsetEntity,
  ConsumerRetryEntity,
  DeadLetterEntity,
  IdempotencyKeyEntity,
  KeptKeyEntity,
  MerchantEntity,
  ShopEntity,
  SubjectTraceEntity,
];
