/** The table of notes on payments. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';

export const PaymentNoteEntity = defineEntity({
  name: 'PaymentNote',
  tableName: 'payment_note',
  properties: {
    merchantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    /** Counts the notes of a payment. */
    number: p.integer().primary(),
    id: p.uuid(),
    /** The writer's subject. */
    author: p.text(),
    createdAt: p.type(InstantType).$type<Temporal.Instant>(),
    text: p.text(),
  },
  checks: [{ name: 'payment_note_number', expression: 'number >= 1 and number <= 100' }],
});
export type PaymentNote = Row<InferEntity<typeof PaymentNoteEntity>>;
