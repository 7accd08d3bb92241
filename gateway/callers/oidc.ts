/**
 * Operators and cabinet users by the access tokens of an OIDC issuer. Architecture, section 3. A
 * token is read when it is signed by one of the issuer's keys with an algorithm of our list, is in
 * time, and is meant for this audience.
 */
import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import { roles, type Role } from '../../subgraphs/kernel/service/access/principal.ts';
import type { OidcConfig } from '../../subgraphs/kernel/service/config/config.ts';
import type { Authenticated, BearerReader } from './authenticate.ts';

/** Asymmetric ones alone: with a shared secret whoever can check a token could make one. */
const tokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
/** How far the issuer's clock may be from ours. */
const clockTolerance_s = 5;
/** The issuer's keys are read anew after this. */
const issuerKeys_ms = 600_000;
/**
 * A token of an unknown key has the keys read anew, but not more often than this: floods of such
 * tokens cost the issuer nothing.
 */
const issuerCooldown_ms = 10_000;
/** How long the issuer may take for an answer. */
const issuerDeadline_ms = 3_000;

/** The limits of reading from the issuer; those above, save in tests that cannot wait so long. */
export interface IssuerLimits {
  readonly cooldown_ms: number;
  readonly deadline_ms: number;
}

const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * `unauthorized` in the words of every other refusal; what is wrong is not told (decision D-01).
 */
const unauthorized = refused('unauthorized', 'The API key is missing or not valid.');
const withoutRole = refused(
  'scope_required',
  `The token names none of the roles ${roles.join(', ')}.`,
);
const withoutReach = refused(
  'scope_required',
  'The token names neither a merchant nor the platform.',
);

/**
 * Reads the issuer's tokens. Refuses with `unauthorized`, or with `scope_required` a good token
 * without a role or without a reach; rejects when the issuer's keys are needed and cannot be had.
 */
export const readOidcToken = (
  config: OidcConfig,
  { cooldown_ms, deadline_ms }: IssuerLimits = {
    cooldown_ms: issuerCooldown_ms,
    deadline_ms: issuerDeadline_ms,
  },
): BearerReader => {
  let keys: Promise<JWTVerifyGetKey> | null = null;
  const issuerKeys = (): Promise<JWTVerifyGetKey> => {
    const opened = (keys ??= openKeys(config, { cooldown_ms, deadline_ms }));
    // What could not be discovered is looked for again by the next token.
    opened.catch(() => (keys = null));
    return opened;
  };
  return (bearer) => (tokenForm.test(bearer) ? admitToken(bearer, config, issuerKeys) : null);
};

const openKeys = async (
  config: OidcConfig,
  { cooldown_ms, deadline_ms }: IssuerLimits,
): Promise<JWTVerifyGetKey> => {
  const url = config.jwksUrl ?? (await discoverKeys(config.issuer, deadline_ms));
  return createRemoteJWKSet(new URL(url), {
    cooldownDuration: cooldown_ms,
    cacheMaxAge: issuerKeys_ms,
    timeoutDuration: deadline_ms,
  });
};

/**
 * OpenID Connect Discovery 1.0, section 4: where the issuer's keys are. The document must speak for
 * the very issuer that was asked.
 */
const discoverKeys = async (issuer: string, deadline_ms: number): Promise<string> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, {
    signal: AbortSignal.timeout(deadline_ms),
    redirect: 'error',
    headers: { accept: 'application/json' },
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const found: unknown = await response.json();
  if (typeof found !== 'object' || found === null || !('issuer' in found) || !('jwks_uri' in found))
    throw new Error(`${url} is no discovery document`);
  if (found.issuer !== issuer) throw new Error(`${url} speaks for another issuer`);
  if (typeof found.jwks_uri !== 'string' || !URL.canParse(found.jwks_uri))
    throw new Error(`${url} has no address of keys`);
  return found.jwks_uri;
};

const admitToken = async (
  token: string,
  config: OidcConfig,
  issuerKeys: () => Promise<JWTVerifyGetKey>,
): Promise<Authenticated | Refused> => {
  if (!isPlausible(token, config.issuer)) return unauthorized;
  const keys = await issuerKeys();
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: [...tokenAlgorithms],
      clockTolerance: clockTolerance_s,
      requiredClaims: ['sub', 'exp'],
    });
    return operatorOf(payload, config);
  } catch (error) {
    if (isFaultOfToken(error)) return unauthorized;
    throw error;
  }
};

/**
 * Whether it is worth asking the issuer: a token that anybody could have made must not cost a
 * question.
 */
const isPlausible = (token: string, issuer: string): boolean => {
  try {
    const { alg } = decodeProtectedHeader(token);
    return tokenAlgorithms.some((known) => known === alg) && decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
};

const faultsOfTokens: ReadonlySet<string> = new Set([
  errors.JWTClaimValidationFailed.code,
  errors.JWTExpired.code,
  errors.JWTInvalid.code,
  errors.JWSInvalid.code,
  errors.JWSSignatureVerificationFailed.code,
  errors.JWKSNoMatchingKey.code,
  errors.JWKSMultipleMatchingKeys.code,
  errors.JOSEAlgNotAllowed.code,
  errors.JOSENotSupported.code,
]);

/** What else goes wrong is the issuer's: it does not answer, or not with keys. */
const isFaultOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && faultsOfTokens.has(error.code);

/**
 * Whom a good token speaks for. One that names a merchant is narrowed to it, whatever else it says;
 * all merchants are for those whose platform claim is true.
 */
const operatorOf = (
  payload: JWTPayload,
  { rolesClaim, merchantClaim, platformClaim }: OidcConfig,
): Authenticated | Refused => {
  const { sub, exp } = payload;
  const merchantId = claimAt(payload, merchantClaim);
  // A claim that cannot be read must not count as one that is absent.
  if (merchantId !== undefined && !(typeof merchantId === 'string' && uuid.test(merchantId)))
    return unauthorized;
  const role = highestRole(claimAt(payload, rolesClaim));
  if (sub === undefined || sub === '' || exp === undefined) return unauthorized;
  if (role === null) return withoutRole;
  if (merchantId === undefined && !isTrue(claimAt(payload, platformClaim))) return withoutReach;
  return {
    principal: {
      kind: 'operator',
      subject: sub,
      role,
      merchantId: merchantId?.toLowerCase() ?? null,
    },
    person: sub,
    expiresAt_ms: (exp + clockTolerance_s) * 1_000,
  };
};

/** Some issuers can say nothing but texts. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

/**
 * A claim by its name, else by its path: Keycloak has `realm_access.roles`, others have names with
 * dots in them.
 */
const claimAt = (payload: JWTPayload, name: string): unknown => {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name.split('.').reduce<unknown>((found, part) => {
    if (typeof found !== 'object' || found === null) return undefined;
    return Object.entries(found).find(([key]) => key === part)?.[1];
  }, payload);
};

const highestRole = (claim: unknown): Role | null => {
  const named: readonly unknown[] =
    typeof claim === 'string' ? claim.split(/[\s,]+/) : Array.isArray(claim) ? claim : [];
  return roles.findLast((role) => named.includes(role)) ?? null;
};
