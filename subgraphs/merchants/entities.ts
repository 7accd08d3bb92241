/** Tables of the merchants subgraph. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { Scope, Role } from '../platform/access/principal.ts';
import { instant } from '../platform/database/instant.ts';
import type { Row } from '../platform/database/statement.ts';
import type { WebhookEvent } from '../rules/event.ts';
import type { Mode } from '../rules/mode.ts';
import type { WebhookFault } from './webhooks/webhook-target.ts';

/**
 * A key is found by its digest before its merchant is known, so this table has a key over all
 * merchants.
 */
export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    /** SHA-256 of the whole key, hex. */
    digest: p.text().primary().hidden(),
    id: p.uuid(),
    merchantId: p.uuid(),
    shopId: p.uuid().groups('audit'),
    mode: p.text().$type<Mode>().groups('audit'),
    /** The part before the secret, which identifies the key to a person. */
    prefix: p.text().groups('audit'),
    scopes: p.array<Scope>().columnType('text[]').groups('audit'),
    name: p.text().default('').groups('audit'),
    /** The person who issued it; null where no person did. */
    owner: p.text().strictNullable(),
    createdAt: instant(),
    /** From then on it does not work; null: it never expires. */
    expiresAt: instant().strictNullable().groups('audit'),
    /** The key that it replaces, which ends so many hours after this one works. */
    replacesId: p.uuid().strictNullable().groups('audit'),
    overlap_h: p.integer().strictNullable(),
    /** Kept to the minute. */
    lastUsedAt: instant().strictNullable(),
    revokedAt: instant().strictNullable().groups('audit'),
    /** The merchant's person who requested it; null where no approval is needed (`rules`). */
    requestedBy: p.text().strictNullable().groups('audit'),
    approvedBy: p.text().strictNullable().groups('audit'),
    approvedAt: instant().strictNullable(),
  },
});
export type ApiKey = Row<InferEntity<typeof ApiKeyEntity>>;

export const WebhookEndpointEntity = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    url: p.text().groups('audit'),
    /** Empty means all events. */
    events: p.array<WebhookEvent>().columnType('text[]').groups('audit'),
    /** The `whs_` secret, encrypted. */
    secretSealed: p.text().hidden(),
    /**
     * The secret before the last rotation, and until when it also signs; null without an overlap.
     */
    previousSecretSealed: p.text().strictNullable().hidden(),
    previousUntil: instant().strictNullable().groups('rotation'),
    signature: p.text().$type<'v2' | 'legacy' | 'stripe' | 'standard'>().groups('audit'),
    active: p.boolean().groups('audit'),
    createdAt: instant(),
  },
});
export type WebhookEndpoint = Row<InferEntity<typeof WebhookEndpointEntity>>;

/** One event on its way to one address. The event row holds the frozen bytes. */
export const WebhookDeliveryEntity = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    eventId: p.uuid(),
    webhookEvent: p.text().$type<WebhookEvent>(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    subjectId: p.uuid(),
    /** Null: the payment's own webhook_url. */
    endpointId: p.uuid().strictNullable(),
    /** The unit of isolation: the endpoint's id, or the address's origin and its merchant. */
    lane: p.text(),
    url: p.text(),
    status: p.text().$type<'pending' | 'delivered' | 'failed'>(),
    attempts: p.integer(),
    /** Attempts before the last resend, which restarts the retry schedule. */
    attemptsBefore: p.integer().default(0),
    nextAttemptAt: instant().strictNullable(),
    /** In real time; null while a retry waits for the shop's test clock. */
    dueAt: instant().strictNullable(),
    leaseUntil: instant().strictNullable(),
    deliveredAt: instant().strictNullable(),
    /** That of its event; part of the key, and selects the partition. */
    createdAt: instant().primary(),
  },
});
export type WebhookDelivery = Row<InferEntity<typeof WebhookDeliveryEntity>>;

/** One attempt: append-only. */
export const WebhookAttemptEntity = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempt',
  properties: {
    merchantId: p.uuid().primary(),
    deliveryId: p.uuid().primary(),
    number: p.integer().primary(),
    at: instant(),
    duration_ms: p.integer(),
    /** HTTP status; null when there was no answer. */
    status: p.integer().strictNullable(),
    error: p.text().strictNullable(),
    /** The kind of the error. */
    fault: p.text().$type<WebhookFault>().strictNullable(),
    responseHead: p.text().strictNullable(),
    /** That of its delivery; both are removed together. */
    createdAt: instant().primary(),
  },
});
export type WebhookAttempt = Row<InferEntity<typeof WebhookAttemptEntity>>;

/** A request with a key that was refused, that failed, or that created something. */
export const ApiRequestEntity = defineEntity({
  name: 'ApiRequest',
  tableName: 'api_request',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    /** The `X-Request-Id`; the caller may name several requests with one. */
    requestId: p.text(),
    method: p.text(),
    /** Without the query. */
    path: p.text(),
    status: p.integer(),
    /** The code of the refusal. */
    code: p.text().strictNullable(),
    /** `sk_test_` or `sk_live_`, and six characters. */
    keyPrefix: p.text(),
    idempotencyKey: p.text().strictNullable(),
    duration_ms: p.integer(),
    /** JSON, masked and cut; null where there was none. */
    requestBody: p.text().strictNullable(),
    responseBody: p.text().strictNullable(),
    /** When it arrived; selects the partition of the day. */
    createdAt: instant().primary(),
  },
});
export type ApiRequest = Row<InferEntity<typeof ApiRequestEntity>>;

/** A saved view of a list. The zero merchant stands for the platform's people. */
export const SavedViewEntity = defineEntity({
  name: 'SavedView',
  tableName: 'saved_view',
  properties: {
    /** The merchant that the person is restricted to. */
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    /** The person, as the installation's issuer names it. */
    subject: p.text(),
    section: p.text().groups('audit'),
    name: p.text().groups('audit'),
    search: p.text().groups('audit'),
    savedAt: instant(),
  },
});
export type SavedView = Row<InferEntity<typeof SavedViewEntity>>;

export const ConsoleSessionEntity = defineEntity({
  name: 'ConsoleSession',
  tableName: 'console_session',
  properties: {
    /** SHA-256 of the cookie's value, hex. */
    digest: p.text().primary(),
    id: p.uuid(),
    subject: p.text(),
    role: p.text().$type<Role>(),
    /** Null: all merchants. */
    merchantId: p.uuid().strictNullable(),
    createdAt: instant(),
    /** Kept to the minute. */
    seenAt: instant(),
    endsAt: instant(),
    /** When it was logged out; null while it lasts or when it lapsed. */
    endedAt: instant().strictNullable(),
  },
});
export type ConsoleSession = Row<InferEntity<typeof ConsoleSessionEntity>>;

/** A one-time login link. */
export const ConsoleLinkEntity = defineEntity({
  name: 'ConsoleLink',
  tableName: 'console_link',
  properties: {
    /** SHA-256 of the link's secret, hex. */
    digest: p.text().primary(),
    /** Null, like who invited: no person asked for the link. */
    id: p.uuid().strictNullable(),
    invitedBy: p.text().strictNullable(),
    expiresAt: instant(),
    usedAt: instant().strictNullable(),
    /** The person it logs in; null: an administrator of all merchants without a name. */
    subject: p.text().strictNullable(),
    role: p.text().$type<Role>().strictNullable(),
    /** Null: all merchants. */
    merchantId: p.uuid().strictNullable(),
  },
});

export type ConsoleLink = Row<InferEntity<typeof ConsoleLinkEntity>>;

export const merchantsEntities = [
  ApiKeyEntity,
  WebhookEndpointEntity,
  WebhookDeliveryEntity,
  WebhookAttemptEntity,
  ApiRequestEntity,
  SavedViewEntity,
  ConsoleSessionEntity,
  ConsoleLinkEntity,
];
