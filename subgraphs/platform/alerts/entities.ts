/** Alerts as rows. The zero merchant stands for the platform itself. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { instant } from '../database/instant.ts';
import type { Row } from '../database/statement.ts';
import type { AlertFields, AlertKind } from '../../rules/alert.ts';
import type { Mode } from '../../rules/mode.ts';

export const AlertEntity = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    kind: p.text().$type<AlertKind>().groups('audit'),
    /** Null, like the mode, when it is not about one shop. */
    shopId: p.uuid().strictNullable(),
    mode: p.text().$type<Mode>().strictNullable(),
    /**
     * What it is about: a payment's id, a check and its account, a run. With the kind it is unique.
     */
    subjectId: p.text().groups('audit'),
    detail: p.text(),
    fields: p.json<AlertFields>().columnType('jsonb').default('{}'),
    raisedAt: instant(),
    /** When it was published to operators; null while that is still to be done. */
    publishedAt: instant().fieldName('told_at').strictNullable(),
    /** When each channel outside the console took it. */
    postedAt: instant().strictNullable(),
    mailedAt: instant().strictNullable(),
    resolvedAt: instant().strictNullable().groups('audit'),
    resolvedBy: p.text().strictNullable(),
    note: p.text().strictNullable().groups('audit'),
    /** Who looks after it, as the audit log names people. */
    assignee: p.text().strictNullable().groups('audit'),
  },
});
export type Alert = Row<InferEntity<typeof AlertEntity>>;

export const alertsEntities = [AlertEntity];
