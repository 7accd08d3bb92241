/**
 * The request log (docs/contract.md#request-log). A call never waits for it: entries are buffered,
 * and their bodies are masked when they are written.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { authorizationOf } from '../../gateway/callers/authenticate.ts';
import { dataOf, edgeCall } from '../../gateway/callers/caller.ts';
import type { Supergraph } from '../../gateway/supergraph.ts';
import type { ApiRequestNote } from '../../schema/generated/asked-of-merchants.ts';
import { maskCardNumbers, holdsCardNumber } from '../../subgraphs/rules/card.ts';
import { openBuffer, metrics, type Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { erasedTexts } from '../../subgraphs/platform/graph/free-texts.ts';
import { repeatable } from '../../subgraphs/rules/refusal.ts';
import { isUuid } from '../../subgraphs/rules/ids.ts';

/*
 * Masks the bodies of the request log, which has no personal data and no secrets. A value is shown
 * if the OpenAPI description has its field and `free-texts` does not classify it as personal; any
 * other value is `***`.
 */

/** So much of a body is kept. */
export const bodyKept_max_bytes = 16_384;
const masked = '***';

/** Personal data that no text of the graph holds, and addresses that let their reader pay. */
const otherSecrets = [
  'phone',
  'customer_phone',
  'customer_id',
  'email',
  'customer_email',
  'full_name',
  'inn',
  'card_pan',
  'card_mask',
  'account_number',
  'recipient_card_mask',
  'customer_card_mask',
  'customer_phone_mask',
  'payment_url',
  'pay_url',
  'secret',
];

/** The names of fields whose values are never kept. */
const secrets: ReadonlySet<string> = new Set([
  ...otherSecrets,
  ...[...erasedTexts.values()]
    .flat()
    .map((column) => column.replace(/^recipient_name$/, 'full_name')),
]);

/** Texts of ours with long numbers in them. */
const ownForm = /^(?:evt_[0-9a-f-]{36}|ord_\d{19}|P-\d+|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?)$/;
/** Fields with long numbers that are not personal: one that may be a card's is masked. */
const plainNumbers: ReadonlySet<string> = new Set([
  'bank_id',
  'bik',
  'member_id',
  'amount',
  'price',
]);
/** Something like a phone or an e-mail address. */
const personal = /\d(?:[ ()-]?\d){6}|[^\s@]@[^\s@]/;
/** The parts of a message that repeat input: quoted texts and numbers. */
const repeated = /"[^"]*"|\d(?:[ ()-]?\d){6,}/g;

const isShown = (name: string, text: string): boolean => {
  if (plainNumbers.has(name)) return !holdsCardNumber(text);
  return isUuid(text) || ownForm.test(text) || (repeatable(text) && !personal.test(text));
};

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

const maskText = (name: string, text: string): string => {
  if (name === 'message') return text.replaceAll(repeated, masked);
  // The query of an address belongs to the merchant and may be personal.
  const shown = isAddress(text) ? (text.split(/[?#]/)[0] ?? '') : text;
  return isShown(name, shown) ? shown : masked;
};

/**
 * Masks a value: `known` are the names that the contract has. The value of an unknown field,
 * or of a personal one, is not looked at; of metadata only the names stay.
 */
const maskValue = (name: string, value: unknown, known: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskValue(name, item, known));
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([field, held]) => [
      plainName.test(field) ? field : masked,
      secrets.has(name) || !known.has(field) ? masked : maskValue(field, held, known),
    ]);
    return Object.fromEntries(fields);
  }
  if (value === null || typeof value === 'boolean') return value;
  if (secrets.has(name)) return masked;
  if (typeof value === 'string') return maskText(name, value);
  return typeof value === 'number' && isShown(name, String(value)) ? value : masked;
};

const plainName = /^[A-Za-z_.-]{1,64}$/;

/** The first bytes of a text, cut between characters. */
const cut = (text: string): string => {
  const bytes = Buffer.from(text);
  return bytes.length <= bodyKept_max_bytes
    ? text
    : bytes
        .subarray(0, bodyKept_max_bytes)
        .toString('utf8')
        .replace(/\uFFFD+$/u, '');
};

/** A body as it is kept; null without one. What is no JSON is not kept: nothing of it is known. */
export const maskBody = (body: string, known: ReadonlySet<string>): string | null => {
  if (body === '') return null;
  try {
    return cut(JSON.stringify(maskValue('', JSON.parse(body), known)));
  } catch {
    return `(${Buffer.byteLength(body)} bytes that are not JSON)`;
  }
};

/** Notes of one batch, and how many wait at most; what comes then is dropped. */
const batch_max = 100;
const waiting_max = 2_000;
const waiting_max_bytes = 16 * 1_024 * 1_024;
/** So many of one merchant wait: a flood of refusals is one fact. */
const ofMerchant_max = 200;
/** A longer body is kept as its length. */
const readBody_max_bytes = 256 * 1_024;

const dropped = new Counter({
  name: 'api_requests_unrecorded_total',
  help: 'API requests that were not recorded in the request log.',
  registers: [metrics],
});

interface Noted {
  readonly note: Omit<ApiRequestNote, 'requestBody' | 'responseBody'>;
  readonly request: Buffer | null;
  readonly response: string;
}

const codeOf = (payload: string): string | null =>
  /^\{"error":\{"code":"(\w+)"/.exec(payload)?.[1] ?? null;

const prefixOf = (request: FastifyRequest): string =>
  /\bsk_(?:test|live)_[^_\s]{1,16}/.exec(authorizationOf(request.raw)[0] ?? '')?.[0] ?? '';

const noteOf = (
  request: FastifyRequest,
  reply: FastifyReply,
  { merchantId, shopId, mode }: KeyPrincipal,
  payload: string,
): Noted['note'] => {
  const duration_ms = Math.round(reply.elapsedTime);
  const key = request.headers['idempotency-key'];
  return {
    merchantId,
    shopId,
    mode,
    requestId: request.id,
    at: new Date(Date.now() - duration_ms).toISOString(),
    method: request.method,
    path: maskCardNumbers(request.url.split('?')[0] ?? '').slice(0, 256),
    status: reply.statusCode,
    code: reply.statusCode >= 400 ? codeOf(payload) : null,
    keyPrefix: prefixOf(request),
    idempotencyKey: typeof key === 'string' ? maskCardNumbers(key).slice(0, 64) : null,
    durationMs: duration_ms,
  };
};

const bodyOf = (text: string, known: ReadonlySet<string>): string | null =>
  Buffer.byteLength(text) > readBody_max_bytes
    ? `(${Buffer.byteLength(text)} bytes)`
    : maskBody(text, known);

/** Bounds what waits to be handed over. */
const openRoom = () => {
  let notes = 0;
  let bytes = 0;
  const ofMerchants = new Map<string | number, number>();
  const add = ({ note: { merchantId }, request, response }: Noted, sign: 1 | -1): void => {
    notes += sign;
    bytes += sign * ((request?.length ?? 0) + response.length);
    const own = (ofMerchants.get(merchantId) ?? 0) + sign;
    if (own === 0) ofMerchants.delete(merchantId);
    else ofMerchants.set(merchantId, own);
  };
  return {
    /** False when there is none for it. */
    take: (noted: Noted): boolean => {
      add(noted, 1);
      const own = ofMerchants.get(noted.note.merchantId) ?? 0;
      if (own <= ofMerchant_max && notes <= waiting_max && bytes <= waiting_max_bytes) return true;
      add(noted, -1);
      return false;
    },
    free: (noted: Noted): void => add(noted, -1),
  };
};

/** Opens the log. `known` are the field names of the OpenAPI description. */
export const openRequestLog = (
  supergraph: Pick<Supergraph, 'operation'>,
  known: ReadonlySet<string>,
  log: Pick<Logger, 'warn'>,
) => {
  const operation = supergraph.operation('NoteApiRequests');
  const room = openRoom();
  const buffer = openBuffer<Noted>({
    batch_max,
    write: async (batch) => {
      for (const noted of batch) room.free(noted);
      const requests = batch.map(({ note, request, response }) => ({
        ...note,
        requestBody: bodyOf(request?.toString('utf8') ?? '', known),
        responseBody: bodyOf(response, known),
      }));
      dataOf(await operation.run({ requests }, edgeCall('gateway')));
    },
    drop: (requests, error) => {
      dropped.inc(requests);
      log.warn({ err: error, requests }, 'could not store request log entries');
    },
  });
  return {
    /** Takes what was answered; it never waits and never fails. */
    take: (
      request: FastifyRequest,
      reply: FastifyReply,
      principal: KeyPrincipal,
      payload: unknown,
    ): void => {
      const response = typeof payload === 'string' ? payload : '';
      const body = Buffer.isBuffer(request.body) ? request.body : null;
      const noted = { note: noteOf(request, reply, principal, response), request: body, response };
      if (room.take(noted)) buffer.add(noted);
      else dropped.inc();
    },
    /** Hands over what has batched. */
    close: buffer.close,
  };
};
