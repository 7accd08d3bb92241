/** Verifies webhooks, in each of the four formats that an endpoint may have. */
import { WebhookError } from './errors.ts';
import type { WebhookEvent } from './schemas.ts';
import { hmacHex, isHmac, readBase64, readHex } from './sign.ts';

/**
 * The format of an endpoint. `v2` is the usual one; `stripe` has the header of v2 with a `v1` as
 * Stripe's libraries want it; `standard` is Standard Webhooks; `legacy` has no timestamp.
 */
export type WebhookFormat = 'v2' | 'stripe' | 'standard' | 'legacy';

/** A request's headers: of `fetch`, of Node, or a plain object. Case does not matter. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery as it arrived. */
export interface Delivery {
  /** The bytes of the body as they came, before they are parsed. */
  readonly body: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** The endpoint's whole secret, `whs_...`; of a `standard` one also `whsec_...`. */
  readonly secret: string;
  /** The endpoint's format; `v2` when left out. Accept no other: a `v1` is a legacy signature. */
  readonly format?: WebhookFormat;
  /** How old a delivery may be; 300 s when left out. */
  readonly tolerance_s?: number;
  readonly now_s?: number;
}

const headerOf = (headers: WebhookHeaders, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : (value?.join(',') ?? '');
};

/** Throws unless the timestamp is one, and fresh. */
const checkFresh = (timestamp: string, delivery: Delivery): void => {
  const { tolerance_s = 300, now_s = Date.now() / 1_000 } = delivery;
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookError('the signature has no timestamp');
  if (Math.abs(now_s - Number(timestamp)) > tolerance_s)
    throw new WebhookError(`the delivery is not from within ${tolerance_s} s`);
};

/** The pairs of `t=...,v1=...,v2=...`; two of each version while a rotated secret overlaps. */
const pairsOf = (header: string): readonly (readonly [name: string, value: string])[] =>
  header.split(',').map((part) => {
    const equals = part.indexOf('=');
    return [part.slice(0, Math.max(0, equals)).trim(), part.slice(equals + 1).trim()] as const;
  });

/** Whether any of the signatures fits; all are looked at. */
const anyFits = async (
  signatures: readonly (Uint8Array<ArrayBuffer> | null)[],
  secret: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<boolean> =>
  (await Promise.all(signatures.map((one) => isHmac(secret, one, ...parts)))).includes(true);

const fitsTimestamped = (delivery: Delivery, version: 'v1' | 'v2'): Promise<boolean> => {
  const pairs = pairsOf(headerOf(delivery.headers, 'x-psp-signature'));
  const timestamp = pairs.find(([name]) => name === 't')?.[1] ?? '';
  checkFresh(timestamp, delivery);
  const given = pairs.filter(([name]) => name === version).map(([, value]) => readHex(value));
  return anyFits(given, delivery.secret, `${timestamp}.`, delivery.body);
};

const fitsLegacy = ({ headers, secret, body }: Delivery): Promise<boolean> => {
  const [, digest = ''] = /^sha256=(.*)$/.exec(headerOf(headers, 'x-psp-signature')) ?? [];
  return anyFits([readHex(digest)], secret, body);
};

/** The key: a `whs_` text, which `whsec_` has in base64. Throws a TypeError for what is neither. */
const keyTextOf = (secret: string): string => {
  if (!secret.startsWith('whsec_')) return secret;
  const key = readBase64(secret.slice('whsec_'.length));
  if (!key || key.length === 0) throw new TypeError('secret: expected whsec_<base64>');
  return new TextDecoder().decode(key);
};

const fitsStandard = (delivery: Delivery): Promise<boolean> => {
  const { headers, body } = delivery;
  const timestamp = headerOf(headers, 'webhook-timestamp');
  checkFresh(timestamp, delivery);
  const signatures = headerOf(headers, 'webhook-signature')
    .split(/[ ,](?=v\d+,)/)
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => readBase64(signature.slice('v1,'.length)));
  const signed = `${headerOf(headers, 'webhook-id')}.${timestamp}.`;
  return anyFits(signatures, keyTextOf(delivery.secret), signed, body);
};

const signatureHeaders: Readonly<Record<WebhookFormat, string>> = {
  v2: 'X-PSP-Signature',
  stripe: 'X-PSP-Signature',
  standard: 'webhook-signature',
  legacy: 'X-PSP-Signature',
};

/** Throws a TypeError for what a program has got wrong, and a WebhookError without a signature. */
const checkDelivery = (delivery: Delivery): void => {
  const { body, headers, secret, format = 'v2' } = delivery;
  // Programs in JavaScript pass anything.
  const [bytes, key]: readonly unknown[] = [body, secret];
  if (typeof bytes !== 'string' && !ArrayBuffer.isView(bytes)) {
    const isParsed = typeof bytes === 'object' && bytes !== null;
    const got = isParsed ? 'a parsed object' : typeof bytes;
    throw new TypeError(`body: expected the raw bytes or text, got ${got}`);
  }
  if (typeof key !== 'string' || key === '')
    throw new TypeError(`secret: expected whs_..., got ${key === '' ? 'none' : typeof key}`);
  if (!Object.hasOwn(signatureHeaders, format))
    throw new TypeError(
      `format: expected one of ${Object.keys(signatureHeaders).join(', ')}, got ${format}`,
    );
  const name = signatureHeaders[format];
  if (headerOf(headers, name.toLowerCase()) === '')
    throw new WebhookError(`there is no ${name} header`);
};

const fits = (delivery: Delivery): Promise<boolean> => {
  const { format = 'v2' } = delivery;
  switch (format) {
    case 'v2':
      return fitsTimestamped(delivery, 'v2');
    case 'stripe':
      return fitsTimestamped(delivery, 'v1');
    case 'standard':
      return fitsStandard(delivery);
    case 'legacy':
      return fitsLegacy(delivery);
  }
};

/**
 * The event of a delivery. Rejects with a WebhookError when it is not genuine or too old, and with
 * a TypeError for a body that was parsed, a secret that is missing or a format that is none. Signatures are compared in
 * constant time. An event may come more than once: remember its `id`.
 */
export const verifyWebhook = async (delivery: Delivery): Promise<WebhookEvent> => {
  checkDelivery(delivery);
  if (!(await fits(delivery))) throw new WebhookError('no signature fits the body and the secret');
  const { body } = delivery;
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  // It is genuine: the service wrote it by the description.
  return JSON.parse(text) as WebhookEvent;
};

/**
 * The value of `X-PSP-Signature` of format v2, as the service makes it. It is for tests of a
 * receiver, and for programs that forward events.
 */
export const signWebhook = async (
  body: string | Uint8Array,
  secret: string,
  now_s = Math.floor(Date.now() / 1_000),
): Promise<string> =>
  `t=${now_s},v1=${await hmacHex(secret, body)},v2=${await hmacHex(secret, `${now_s}.`, body)}`;
