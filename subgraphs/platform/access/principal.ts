/** The caller (docs/contract.md#authentication) and its scopes (docs/contract.md#scopes). */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, SignJWT, jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { enums } from '../../../schema/generated/enums.ts';
import { modes } from '../../rules/mode.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { allKeys, currentKey, type Keys } from './keys.ts';

export const scopes = [
  'api:reports:read',
  'api:balance:read',
  'api:payouts:sbp',
  'api:payouts:card',
  'api:payouts:account',
  'api:recurrent:bind',
  'api:recurrent:charge',
] as const;
export type Scope = (typeof scopes)[number];

export const roles = enums.Role;
export type Role = (typeof roles)[number];

const keySchema = v.object({
  kind: v.literal('key'),
  keyId: v.string(),
  merchantId: v.string(),
  shopId: v.string(),
  mode: v.picklist(modes),
  scopes: v.pipe(v.array(v.picklist(scopes)), v.readonly()),
  /** Present where the shop sells nothing without a receipt. */
  receiptsRequired: v.exactOptional(v.literal(true)),
});
/** A merchant's API key: one shop, one mode. */
export type KeyPrincipal = Readonly<v.InferOutput<typeof keySchema>>;

const operatorSchema = v.object({
  kind: v.literal('operator'),
  subject: v.string(),
  role: v.picklist(roles),
  /** Null: all merchants. */
  merchantId: v.nullable(v.string()),
});
/** A person at the operator, or a cabinet user when narrowed to a merchant. */
export type OperatorPrincipal = Readonly<v.InferOutput<typeof operatorSchema>>;

const buyerSchema = v.object({
  kind: v.literal('buyer'),
  merchantId: v.string(),
  paymentId: v.string(),
});
/** The buyer on one payment's hosted page. */
export type BuyerPrincipal = Readonly<v.InferOutput<typeof buyerSchema>>;

/** A principal in a verified header; a process of another version may send another form. */
const principalSchema = v.variant('kind', [
  keySchema,
  operatorSchema,
  buyerSchema,
  // Another role of this service, which works on the record.
  v.object({ kind: v.literal('service'), name: v.string() }),
  // A process of the edge on its own behalf: it identifies callers and passes on bank notifications.
  v.object({ kind: v.literal('edge'), name: v.string() }),
]);
export type Principal = Readonly<v.InferOutput<typeof principalSchema>>;

/** What crosses every border inside the service with a call. */
export interface Call {
  readonly principal: Principal;
  readonly requestId: string;
  /**
   * Whether the caller composed the request (a document, a live read, a list): its statements wait
   * for their turns (`platform/access/lane`).
   */
  readonly isInLane: boolean;
  /** Counts the answer to a caller's own document; absent where the service knows the request. */
  readonly meter?: AnswerMeter;
  /**
   * Whether a mutation of this call takes effect once however often it is sent: its caller gave an
   * idempotency key.
   */
  readonly mayRepeat?: boolean;
}

// The principal header: how one process of this service tells another the caller's identity. A JWT
// signed by HMAC (HS256) that lives for a minute; the request id travels separately in
// `X-Request-Id`.
// Two keys sign. The shared one, which every process has, speaks for callers, and for the edge
// itself. The service's own is in the database (`platform/database/kept-keys`), which no process of
// the edge can reach: only it speaks as a service.

export const principalHeader = 'x-principal';
export const requestIdHeader = 'x-request-id';

const life_s = 60;
const remembered = 10_000;
const audience = 'payment-service/subgraph';
/** What the id of a service's key begins with in a token. The shared key has none. */
const serviceKid = 'service.';

/** The keys of processes that speak as services. */
export interface ServiceKeys {
  /** The signing keys of this process. Rejects while the database is unavailable. */
  own(): Promise<{ readonly id: string; readonly key: Buffer }>;
  /** The key with this id; null when there is none. */
  find(id: string): Promise<Buffer | null>;
}

export interface PrincipalKeys {
  readonly shared: Keys;
  /** Null in a process of the edge: it neither signs nor reads as a service. */
  readonly service: ServiceKeys | null;
}

interface Token {
  readonly text: Promise<string>;
  readonly reusableUntil_ms: number;
}

/**
 * Makes principal headers. Concurrent requests for a principal share one header, which is reused
 * for half of its life. Rejects for a service on the edge.
 */
export const principalSigner = (
  keys: PrincipalKeys,
  now_ms: () => number = Date.now,
): ((principal: Principal) => Promise<string>) => {
  const shared = createSecretKey(currentKey(keys.shared));
  const tokens = new LRUCache<string, Token>({ max: remembered });
  const sign = async (principal: Principal, issued_s: number): Promise<string> => {
    if (principal.kind !== 'service') return signPrincipal(shared, principal, issued_s);
    if (!keys.service) throw new Error('a process of the edge does not speak as a service');
    const { id, key } = await keys.service.own();
    return signPrincipal(createSecretKey(key), principal, issued_s, `${serviceKid}${id}`);
  };
  return (principal) => {
    const identity = JSON.stringify(principal);
    const known = tokens.get(identity);
    if (known && known.reusableUntil_ms > now_ms()) return known.text;
    const issued_s = Math.floor(now_ms() / 1_000);
    const text = sign(principal, issued_s);
    tokens.set(identity, { text, reusableUntil_ms: (issued_s + life_s / 2) * 1_000 });
    // What failed is tried anew by the next.
    text.catch(() => tokens.delete(identity));
    return text;
  };
};

const signPrincipal = (
  key: KeyObject,
  principal: Principal,
  issued_s: number,
  kid?: string,
): Promise<string> =>
  new SignJWT({ principal })
    .setProtectedHeader(kid === undefined ? { alg: 'HS256' } : { alg: 'HS256', kid })
    .setAudience(audience)
    .setIssuedAt(issued_s)
    .setExpirationTime(issued_s + life_s)
    .sign(key);

interface Verified {
  readonly principal: Principal;
  readonly until_ms: number;
}

/**
 * Reads principal headers: the principal, or null when the header is missing, forged, expired or
 * not a principal.
 */
export const principalReader = (
  keys: PrincipalKeys,
  now_ms: () => number = Date.now,
): ((header: unknown) => Promise<Principal | null>) => {
  const shared = allKeys(keys.shared).map((key) => createSecretKey(key));
  const verified = new LRUCache<string, Verified>({ max: remembered });
  const read = async (header: string): Promise<Verified | null> => {
    try {
      const { kid } = decodeProtectedHeader(header);
      if (!kid?.startsWith(serviceKid))
        return asRead(await verifyByAny(shared, header, now_ms()), false);
      const key = await keys.service?.find(kid.slice(serviceKid.length));
      return key ? asRead(await verify(createSecretKey(key), header, now_ms()), true) : null;
    } catch {
      // Any failure means that the header is not ours.
      return null;
    }
  };
  return async (header) => {
    if (typeof header !== 'string') return null;
    const known = verified.get(header);
    if (known && known.until_ms > now_ms()) return known.principal;
    verified.delete(header);
    const found = await read(header);
    if (found) verified.set(header, found);
    return found?.principal ?? null;
  };
};

const verify = async (key: KeyObject, token: string, now_ms: number): Promise<JWTPayload> => {
  const { payload } = await jwtVerify(token, key, {
    algorithms: ['HS256'],
    audience,
    requiredClaims: ['exp'],
    currentDate: new Date(now_ms),
  });
  return payload;
};

/** By the first key that fits: there are several while the secret key is being changed. */
const verifyByAny = async (
  [key, ...others]: readonly KeyObject[],
  token: string,
  now_ms: number,
): Promise<JWTPayload> => {
  if (!key) throw new Error('signed with none of the keys');
  try {
    return await verify(key, token, now_ms);
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed)
      return verifyByAny(others, token, now_ms);
    throw error;
  }
};

/** A service's key speaks as a service alone, and the shared one cannot. */
const asRead = ({ principal, exp }: JWTPayload, isOfService: boolean): Verified | null => {
  const { success, output } = v.safeParse(principalSchema, principal);
  if (!success || exp === undefined || (output.kind === 'service') !== isOfService) return null;
  return { principal: output, until_ms: exp * 1_000 };
};
