/** Console sessions and the one-time login links of administrators. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Role } from '../../platform/access/principal.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

const ConsoleSessionEntity = defineEntity({
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
  indexes: [{ name: 'console_session_ends', properties: ['endsAt'] }],
});
export type ConsoleSession = Row<InferEntity<typeof ConsoleSessionEntity>>;

const ConsoleLinkEntity = defineEntity({
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

export const sessionEntities = [ConsoleSessionEntity, ConsoleLinkEntity];
