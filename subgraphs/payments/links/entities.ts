/** Tables of payment links. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';
import type { ShownTerms } from '../../rules/receipt.ts';
import type { PaymentMethod } from '../rules/payment.ts';
import type { LinkStatus } from './rules.ts';

const instant = () => p.type(InstantType).$type<Temporal.Instant>();

/** A payment link. Its id is random: the address of its page is made of it. */
export const PaymentLinkEntity = defineEntity({
  name: 'PaymentLink',
  tableName: 'payment_link',
  properties: {
    merchantId: p.uuid().primary(),
    id: p.uuid().primary(),
    shopId: p.uuid(),
    mode: p.text().$type<Mode>(),
    /** The address of its page. */
    url: p.text(),
    status: p.text().$type<LinkStatus>(),
    /** Null: the buyer types one from `amountMin` to `amountMax`. */
    amount: p.bigint().nullable(),
    amountMin: p.bigint().nullable(),
    amountMax: p.bigint().nullable(),
    currency: p.text(),
    description: p.text().nullable(),
    orderId: p.text().nullable(),
    method: p.text().$type<PaymentMethod>(),
    /** Null: automatic. */
    capture: p.text().$type<'manual'>().nullable(),
    /** Null: without limit. */
    uses: p.integer().nullable(),
    usesLeft: p.integer().nullable(),
    returnUrl: p.text().nullable(),
    metadata: p.json<Record<string, string>>().columnType('json'),
    /** Of each of its payments, as everybody sees it; its terms have the link's id. */
    receipt: p.json<ShownTerms>().columnType('json').nullable(),
    /** Of payments that succeeded and were not given back for want of a use. */
    paymentsCount: p.integer(),
    /** Their sum, of any size: an exact number as text. */
    amountPaid: p.decimal().columnType('numeric'),
    expiresAt: instant(),
    createdAt: instant(),
    finalizedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'payment_link_registry',
      properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'],
    },
    {
      name: 'payment_link_filter',
      properties: ['merchantId', 'shopId', 'mode', 'status', 'createdAt', 'id'],
    },
    { name: 'payment_link_address', properties: ['id'] },
    { name: 'payment_link_ends', properties: ['expiresAt'], where: "status = 'active'" },
  ],
  checks: [
    { name: 'payment_link_uses', expression: 'uses_left is null or uses_left >= 0' },
    {
      name: 'payment_link_status',
      expression:
        "status = any (array['active'::text, 'paid'::text, 'expired'::text, 'deactivated'::text])",
    },
  ],
});
export type PaymentLink = Row<InferEntity<typeof PaymentLinkEntity>>;

/** Which link a payment was made through. */
export const LinkPaymentEntity = defineEntity({
  name: 'LinkPayment',
  tableName: 'link_payment',
  properties: {
    merchantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    linkId: p.uuid(),
  },
  indexes: [{ name: 'link_payment_of_link', properties: ['merchantId', 'linkId', 'paymentId'] }],
});
