/**
 * Login at the issuer: OpenID Connect's authorization code flow with PKCE, on the server (RFC 7636,
 * OpenID Connect Core 3.1). The state of each login is sealed in a cookie for ten minutes, so the
 * answer counts once, in the browser that asked.
 */
import type * as Openid from 'openid-client';
import { object, parse, string } from 'valibot';
import { clockTolerance_s, operatorOf } from '../../gateway/callers/oidc.ts';
import type { Authenticated, BearerReader } from '../../gateway/callers/caller.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import { seal, unseal, type Keys } from '../../subgraphs/platform/access/keys.ts';
import type { ConsoleLogin, OidcConfig } from '../../subgraphs/platform/config/config.ts';

const issuerDeadline_s = 3;
/** What the console requests from the issuer: the person's identity. */
const scope = 'openid profile';

/** A login that has begun: where the person goes, and what its cookie holds meanwhile. */
interface LoginBegun {
  readonly url: string;
  /** What the issuer's answer names it by. */
  readonly state: string;
  readonly sealed: string;
}

export interface IssuerLogin {
  /** Begins a login. Rejects when the issuer does not answer. */
  readonly begin: () => Promise<LoginBegun>;
  /**
   * Who has come back to `url` with the cookie's content. Refuses a person without a role or a
   * reach; rejects when the issuer's answer is not the one that this browser waits for.
   */
  readonly finish: (url: URL, sealed: string) => Promise<Authenticated | Refusal>;
}

interface IssuerLoginDeps {
  readonly oidc: OidcConfig;
  readonly login: ConsoleLogin;
  readonly publicUrl: string;
  readonly keys: Keys;
  /** Reads the issuer's access tokens, as those of bearers are read. */
  readonly readToken: BearerReader;
}

const waiting = object({ verifier: string(), state: string(), nonce: string() });

type Package = typeof Openid;
type Configuration = Openid.Configuration;
type Client = Omit<Package, 'allowInsecureRequests'> & {
  /** Without it, the package accepts only issuers with TLS. */
  readonly allowInsecureRequests: (configuration: Configuration) => void;
};

/** The package is loaded by the first login. */
const loadClient = (): Promise<Client> => import('openid-client');

const discover = async ({ oidc, login }: IssuerLoginDeps): Promise<Configuration> => {
  const client = await loadClient();
  const { clientId, clientSecret } = login;
  const issuer = new URL(oidc.issuer);
  return client.discovery(
    issuer,
    clientId,
    { [client.clockTolerance]: clockTolerance_s },
    clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret),
    {
      timeout: issuerDeadline_s,
      // An issuer without TLS is what the installation has configured: a laptop's, a test's.
      execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
    },
  );
};

/** Opens the login; the issuer is asked for its addresses by the first one. */
export const openIssuerLogin = (deps: IssuerLoginDeps): IssuerLogin => {
  const { oidc, publicUrl, keys, readToken } = deps;
  let found: Promise<Configuration> | null = null;
  const issuer = (): Promise<Configuration> => {
    const discovered = (found ??= discover(deps));
    // After a failed discovery the next login tries again.
    discovered.catch(() => (found = null));
    return discovered;
  };
  return {
    begin: async () => {
      const client = await loadClient();
      const verifier = client.randomPKCECodeVerifier();
      const kept = { verifier, state: client.randomState(), nonce: client.randomNonce() };
      const url = client.buildAuthorizationUrl(await issuer(), {
        redirect_uri: `${publicUrl}/console/login/return`,
        scope,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: kept.state,
        nonce: kept.nonce,
      });
      return { url: url.href, state: kept.state, sealed: seal(keys, JSON.stringify(kept)) };
    },
    finish: async (url, sealed) => {
      const client = await loadClient();
      const { verifier, state, nonce } = parse(waiting, JSON.parse(unseal(keys, sealed)));
      const tokens = await client.authorizationCodeGrant(await issuer(), url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      // Issuers put roles into access tokens for this audience, or into the ID token.
      const byToken = await readToken(tokens.access_token);
      if (byToken && 'principal' in byToken) return byToken;
      const claims = tokens.claims();
      if (!claims) throw new Error('the issuer gave no ID token');
      return operatorOf(claims, oidc);
    },
  };
};
