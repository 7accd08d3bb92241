/** Saved views of lists. The zero merchant stands for the platform's people. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';

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
    savedAt: p.type(InstantType).$type<Temporal.Instant>(),
  },
  uniques: [{ name: 'saved_view_once', properties: ['merchantId', 'subject', 'section', 'name'] }],
});
export type SavedView = Row<InferEntity<typeof SavedViewEntity>>;

export const viewEntities = [SavedViewEntity];
