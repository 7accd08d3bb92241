/**
 * Stores the request log. The edge sends batches about once a second, so no call waits for its row;
 * a killed process loses its last second.
 */
import { LRUCache } from 'lru-cache';
import { newRowId } from '../../platform/database/new-id.ts';
import { eachMerchant } from '../../platform/database/sharding.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';
import type { ApiRequestNote } from '../../../schema/generated/merchants.ts';

/** Requests kept for each merchant, so that none can fill the disk. The oldest are removed. */
const requestsOfMerchant_max = 20_000;
/** New requests of a merchant between checks of the limit. */
const looked_rows = 1_000;
const merchants_max = 10_000;

const insert: Statement = {
  name: 'api_request.insert',
  text: `insert into api_request select * from jsonb_populate_recordset(null::api_request, $2::jsonb) as row where row.merchant_id = $1`,
};

const trim: Statement = {
  name: 'api_request.trim',
  text: `delete from api_request using (
      select created_at, id from api_request where merchant_id = $1 order by created_at desc, id desc offset $2 limit 1
    ) as oldest where merchant_id = $1 and (api_request.created_at, api_request.id) <= (oldest.created_at, oldest.id)`,
};

const columnsOf = (note: ApiRequestNote) => ({
  merchant_id: note.merchantId,
  id: newRowId(),
  shop_id: note.shopId,
  mode: note.mode,
  request_id: note.requestId,
  method: note.method,
  path: note.path,
  status: note.status,
  code: note.code ?? null,
  key_prefix: note.keyPrefix,
  idempotency_key: note.idempotencyKey ?? null,
  duration_ms: note.durationMs,
  request_body: note.requestBody ?? null,
  response_body: note.responseBody ?? null,
  created_at: note.at.toString(),
});

/**
 * Opens the writer, which returns the number of rows stored and keeps `kept_max` for each merchant.
 */
export const openRequestStore = (runner: Runner, kept_max: number = requestsOfMerchant_max) => {
  const written = new LRUCache<string, number>({ max: merchants_max });
  return async (notes: readonly ApiRequestNote[]): Promise<number> => {
    await eachMerchant(notes, async (own, merchantId) => {
      await run(runner, insert, [merchantId, JSON.stringify(own.map(columnsOf))]);
      const sum = (written.get(merchantId) ?? 0) + own.length;
      written.set(merchantId, sum < looked_rows ? sum : 0);
      if (sum >= looked_rows) await run(runner, trim, [merchantId, kept_max]);
      return [];
    });
    return notes.length;
  };
};
