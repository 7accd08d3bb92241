/** The table of the request log. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { InstantType } from '../../platform/database/instant.ts';
import type { Row } from '../../platform/database/statement.ts';
import type { Mode } from '../../rules/mode.ts';

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
    createdAt: p.type(InstantType).$type<Temporal.Instant>().primary(),
  },
  indexes: [
    {
      name: 'api_request_list',
      properties: ['merchantId', 'shopId', 'mode', 'createdAt', 'id'],
    },
    { name: 'api_request_id', properties: ['merchantId', 'requestId', 'createdAt'] },
  ],
});
export type ApiRequest = Row<InferEntity<typeof ApiRequestEntity>>;
