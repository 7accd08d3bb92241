/**
 * Authenticates operators and cabinet users by access tokens of an OIDC issuer
 * (docs/architecture.md#access). A token is accepted when one of the issuer's keys has signed it
 * with an algorithm of our list, it is in time, and it is meant for this audience.
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
import * as v from 'valibot';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import { readAs } from '../../subgraphs/platform/bus/process-messages.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { roles, type Role } from '../../subgraphs/platform/access/principal.ts';
import type { OidcConfig } from '../../subgraphs/platform/config/config.ts';
import type { Authenticated, BearerReader } from './caller.ts';
import { personName } from './limits.ts';
import { isUuid } from '../../subgraphs/rules/ids.ts';

/**
 * Asymmetric algorithms only: with a shared secret, a process that checks a token could also forge one.
 */
const tokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
/** How far the issuer's clock may be from ours. */
export const clockTolerance_s = 60;
/** How long the issuer's keys are cached. */
const issuerKeys_ms = 600_000;
/**
 * A token with an unknown key has the keys fetched again, at most once in this time, so that a
 * flood of such tokens costs the issuer nothing.
 */
const issuerCooldown_ms = 10_000;
const issuerDeadline_ms = 3_000;

/** Limits of requests to the issuer. The constants above, except in tests. */
interface IssuerLimits {
  readonly cooldown_ms: number;
  readonly deadline_ms: number;
}

const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The same message as every other `unauthorized`; the reason is not revealed. */
const unauthorized = refuse('unauthorized', 'The API key is missing or not valid.');
const withoutRole = refuse(
  'scope_required',
  `The token has none of the roles ${roles.join(', ')}.`,
);
const withoutReach = refuse(
  'scope_required',
  'The token names neither a merchant nor the platform.',
);

/**
 * Opens the reader of the issuer's tokens. It refuses with `unauthorized`, or with `scope_required`
 * a good token without a role or without a merchant or platform claim; it rejects when the issuer's
 * keys are needed and unavailable.
 */
export const readOidcToken = (
  config: OidcConfig,
  limits: IssuerLimits = {
    cooldown_ms: issuerCooldown_ms,
    deadline_ms: issuerDeadline_ms,
  },
): BearerReader => {
  const issuerKeys = lazily(() => openKeys(config, limits));
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

const discoveryDocument = v.object({ issuer: v.string(), jwks_uri: v.pipe(v.string(), v.url()) });

/**
 * OpenID Connect Discovery 1.0, section 4: the address of the issuer's keys. The document must name
 * the very issuer that it was fetched from.
 */
const discoverKeys = async (issuer: string, deadline_ms: number): Promise<string> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, {
    signal: AbortSignal.timeout(deadline_ms),
    redirect: 'error',
    headers: { accept: 'application/json' },
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const found = readAs(discoveryDocument, await response.json(), url);
  if (found.issuer !== issuer) throw new Error(`${url} belongs to another issuer`);
  return found.jwks_uri;
};

const admitToken = async (
  token: string,
  config: OidcConfig,
  issuerKeys: () => Promise<JWTVerifyGetKey>,
): Promise<Authenticated | Refusal> => {
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
    if (isTokenFault(error)) return unauthorized;
    throw error;
  }
};

/** Whether the token is worth a request to the issuer: one that anybody could have made is not. */
const isPlausible = (token: string, issuer: string): boolean => {
  try {
    const { alg } = decodeProtectedHeader(token);
    return tokenAlgorithms.some((known) => known === alg) && decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
};

const tokenFaults: ReadonlySet<string> = new Set([
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

/** Any other error is the issuer's: it does not answer, or not with keys. */
const isTokenFault = (error: unknown): boolean =>
  error instanceof errors.JOSEError && tokenFaults.has(error.code);

/**
 * The caller of a valid token. A token that names a merchant is limited to it, whatever else it
 * claims; only a true platform claim gives access to all merchants.
 */
export const operatorOf = (
  payload: JWTPayload,
  { rolesClaim, merchantClaim, platformClaim }: OidcConfig,
): Authenticated | Refusal => {
  const { sub, exp } = payload;
  const merchantId = claimAt(payload, merchantClaim);
  // An unreadable claim must not count as an absent one.
  if (merchantId !== undefined && !(typeof merchantId === 'string' && isUuid(merchantId)))
    return unauthorized;
  const role = highestRole(claimAt(payload, rolesClaim));
  if (sub === undefined || sub === '' || exp === undefined) return unauthorized;
  if (role === null) return withoutRole;
  if (merchantId === undefined && !isTrue(claimAt(payload, platformClaim))) return withoutReach;
  const person = { subject: sub, role, merchantId: merchantId?.toLowerCase() ?? null };
  return {
    principal: { kind: 'operator', ...person },
    person: personName(person),
    expiresAt_ms: (exp + clockTolerance_s) * 1_000,
  };
};

/** Some issuers can only put strings into claims. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

/**
 * A claim by its name, else by its path: Keycloak has `realm_access.roles`, other issuers use names
 * that contain dots.
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
