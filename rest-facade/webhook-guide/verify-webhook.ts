/**
 * Verifies webhooks of the payment service. Copy this file into your project: it needs Node 20 or
 * newer and no packages.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const hmac = (secret: string, ...parts: readonly (string | Uint8Array)[]): Buffer => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return Buffer.from(digest.digest('hex'));
};

/** Compares in constant time. */
const equals = (expected: Buffer, given: string): boolean => {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
};

/**
 * Whether a delivery is genuine and at most `tolerance_s` seconds old. `rawBody`: the bytes of the
 * body as they came, before they are parsed. `header`: X-PSP-Signature. `secret`: the endpoint's
 * whole secret, `whs_...`.
 */
export const verifyWebhook = (
  rawBody: Uint8Array,
  header: string,
  secret: string,
  tolerance_s = 300,
  now_s = Date.now() / 1_000,
): boolean => {
  const pairs = header
    .split(',')
    .map(
      (part) =>
        [
          part.slice(0, part.indexOf('=')).trim(),
          part.slice(part.indexOf('=') + 1).trim(),
        ] as const,
    );
  const timestamp = pairs.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(now_s - Number(timestamp)) > tolerance_s)
    return false;
  const expected = hmac(secret, `${timestamp}.`, rawBody);
  // While a rotated secret and the new one overlap there are two of them, and either will do.
  return pairs.filter(([name, value]) => name === 'v2' && equals(expected, value)).length > 0;
};

/**
 * Whether a delivery of an endpoint marked `legacy` is genuine. It has no timestamp: remember the
 * ids that you have handled. Use it for such endpoints alone, because a signature of this format
 * can be made out of any `v1` that was ever seen.
 */
export const verifyLegacyWebhook = (rawBody: Uint8Array, header: string, secret: string): boolean =>
  header.startsWith('sha256=') && equals(hmac(secret, rawBody), header.slice('sha256='.length));
