/** Signatures: HMAC-SHA256 by Web Crypto, which Node, Deno and Bun have. */

const utf8 = new TextEncoder();

const joined = (parts: readonly (string | Uint8Array)[]): Promise<ArrayBuffer> =>
  new Blob(
    parts.map((part) => (typeof part === 'string' ? part : new Uint8Array(part))),
  ).arrayBuffer();

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

const keyOf = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign', 'verify']);

/** The HMAC-SHA256 of the parts, one behind the other, in lowercase hex. */
export const hmacHex = async (
  secret: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<string> => {
  const digest = await crypto.subtle.sign('HMAC', await keyOf(secret), await joined(parts));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Whether this is the HMAC-SHA256 of the parts, compared in constant time. */
export const isHmac = async (
  secret: string,
  given: Uint8Array<ArrayBuffer> | null,
  ...parts: readonly (string | Uint8Array)[]
): Promise<boolean> =>
  given !== null && crypto.subtle.verify('HMAC', await keyOf(secret), given, await joined(parts));

/** The bytes of 64 lowercase hexadecimal digits; null of anything else. */
export const readHex = (text: string): Uint8Array<ArrayBuffer> | null =>
  /^[0-9a-f]{64}$/.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : null;

/** The bytes of a base64 text; null of anything else. */
export const readBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
  } catch {
    return null;
  }
};

/** What a signed call consists of. */
export interface SignedCall {
  readonly method: string;
  /** The path with its query, as it stands in the request line. */
  readonly target: string;
  readonly idempotencyKey: string | null;
  readonly body: string | null;
}

/**
 * The value of `X-PSP-Signature` over the whole request, with a shop's `thm_` secret. The service
 * takes it for 300 seconds from `now_s`.
 */
export const signCall = async (
  secret: string,
  call: SignedCall,
  now_s = Math.floor(Date.now() / 1_000),
): Promise<string> => {
  const { method, target, idempotencyKey, body } = call;
  const signed = [now_s, method, target, idempotencyKey ?? '', body ?? ''].join('\n');
  return `t=${now_s},s2=${await hmacHex(secret, signed)}`;
};
