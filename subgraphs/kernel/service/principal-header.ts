/**
 * The principal header: how one process of this service tells another who calls (architecture section 3).
 * A JWT signed with the service's own key (HS256) that lives for a minute; the request id travels beside it in `X-Request-Id`.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';
import { Lru } from './lru.ts';
import { modes } from '../rules/mode.ts';
import { roles, scopes, type Principal } from './principal.ts';

export const principalHeader = 'x-principal';
export const requestIdHeader = 'x-request-id';

const life_s = 60;
const remembered = 10_000;
const audience = 'payment-service/subgraph';

interface Token {
  readonly text: string;
  readonly reusableUntil_ms: number;
}

/** Makes principal headers. A principal's header is made once and used again for half of its life. */
export const principalSigner = (secret: Buffer, now_ms: () => number = Date.now): ((principal: Principal) => Promise<string>) => {
  const key = createSecretKey(secret);
  const tokens = new Lru<string, Token>(remembered);
  return async (principal) => {
    const identity = JSON.stringify(principal);
    const known = tokens.get(identity);
    if (known && known.reusableUntil_ms > now_ms()) return known.text;
    const issued_s = Math.floor(now_ms() / 1_000);
    const text = await signPrincipal(key, principal, issued_s);
    tokens.set(identity, { text, reusableUntil_ms: (issued_s + life_s / 2) * 1_000 });
    return text;
  };
};

const signPrincipal = (key: KeyObject, principal: Principal, issued_s: number): Promise<string> =>
  new SignJWT({ principal })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(audience)
    .setIssuedAt(issued_s)
    .setExpirationTime(issued_s + life_s)
    .sign(key);

interface Verified {
  readonly principal: Principal;
  readonly until_ms: number;
}

/** Reads principal headers: the principal, or null when the header is missing, forged, expired or not a principal. */
export const principalReader = (secret: Buffer, now_ms: () => number = Date.now): ((header: unknown) => Promise<Principal | null>) => {
  const key = createSecretKey(secret);
  const verified = new Lru<string, Verified>(remembered);
  return async (header) => {
    if (typeof header !== 'string') return null;
    const known = verified.get(header);
    if (known && known.until_ms > now_ms()) return known.principal;
    verified.delete(header);
    const read = await readPrincipal(key, header, now_ms());
    if (read) verified.set(header, read);
    return read?.principal ?? null;
  };
};

const readPrincipal = async (key: KeyObject, token: string, now_ms: number): Promise<Verified | null> => {
  try {
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], audience, requiredClaims: ['exp'], currentDate: new Date(now_ms) });
    const principal = parsePrincipal(payload['principal']);
    return principal && payload.exp !== undefined ? { principal, until_ms: payload.exp * 1_000 } : null;
  } catch {
    // Whatever is wrong with it, it is not a header of ours.
    return null;
  }
};

/** A principal out of a verified header; null when a process of another version put something else there. */
const parsePrincipal = (value: unknown): Principal | null => {
  if (typeof value !== 'object' || value === null) return null;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = (name: string): boolean => typeof fields.get(name) === 'string';
  const among = (name: string, values: readonly unknown[]): boolean => values.includes(fields.get(name));
  const wellFormed = (): boolean => {
    switch (fields.get('kind')) {
      case 'key': {
        const granted = fields.get('scopes');
        const known: readonly unknown[] = scopes;
        return (
          text('keyId') &&
          text('merchantId') &&
          text('shopId') &&
          among('mode', modes) &&
          Array.isArray(granted) &&
          granted.every((scope) => known.includes(scope))
        );
      }
      case 'operator':
        return text('subject') && among('role', roles) && (text('merchantId') || fields.get('merchantId') === null);
      case 'buyer':
        return text('merchantId') && text('paymentId');
      case 'service':
        return text('name');
      default:
        return false;
    }
  };
  // A parse border: the shape has just been checked.
  return wellFormed() ? (value as Principal) : null;
};
