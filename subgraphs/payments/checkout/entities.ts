/** The table of openings of hosted pages. */
import { defineEntity, p } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';

/**
 * A payment's hosted page was opened. A process writes it once for each payment that it remembers,
 * so that the first row is the first opening. Nothing is kept of who opened it.
 */
export const PageOpeningEntity = defineEntity({
  name: 'PageOpening',
  tableName: 'page_opening',
  properties: {
    merchantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    /** By the payment's time. Its partition. */
    createdAt: p.type(InstantType).$type<Temporal.Instant>().primary(),
  },
});
