/**
 * Login at the issuer: OpenID Connect's authorization code flow with PKCE, on the server (RFC 7636,
 * OpenID Connect Core 3.1). The state of each login is sealed in a cookie for ten minutes, so the
 * answer counts once, in the browser that asked.
 */
import type * as Openid from 'openid-client';
import * as v from 'valibot';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticated, BearerReader } from '../../gateway/callers/caller.ts';
import { clockTolerance_s, operatorOf } from '../../gateway/callers/oidc.ts';
import { seal, unseal, type Keys } from '../../subgraphs/platform/access/keys.ts';
import type { ConsoleLogin, OidcConfig } from '../../subgraphs/platform/config/config.ts';
import type { Refusal } from '../../subgraphs/rules/refusal.ts';
import { preferredLanguage } from '../checkout/language.ts';
import { html, markupText, type Html, type Piece } from '../checkout/html.ts';
import { guardPage } from '../checkout/page-context.ts';
import { lookFiles } from '../checkout/serve-assets.ts';
import { lazily } from '../../subgraphs/platform/graph/lazily.ts';
import { serveFiles, type ServedFile } from '../fixed-answer.ts';

const issuerDeadline_s = 3;
/** What the console requests from the issuer: the person's identity. */
const scope = 'openid profile';

interface IssuerLoginDeps {
  readonly oidc: OidcConfig;
  readonly login: ConsoleLogin;
  readonly publicUrl: string;
  readonly keys: Keys;
  /** Reads the issuer's access tokens, as those of bearers are read. */
  readonly readToken: BearerReader;
}

const waiting = v.object({ verifier: v.string(), state: v.string(), nonce: v.string() });

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
export const openIssuerLogin = (deps: IssuerLoginDeps) => {
  const { oidc, publicUrl, keys, readToken } = deps;
  const issuer = lazily(() => discover(deps));
  return {
    /**
     * Begins a login: where the person goes, what the issuer's answer names it by, and what its
     * cookie holds meanwhile. Rejects when the issuer does not answer.
     */
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
    /**
     * Who has come back to `url` with the cookie's content. Refuses a person without a role or a
     * reach; rejects when the issuer's answer is not the one that this browser waits for.
     */
    finish: async (url: URL, sealed: string): Promise<Authenticated | Refusal> => {
      const client = await loadClient();
      const { verifier, state, nonce } = v.parse(waiting, JSON.parse(unseal(keys, sealed)));
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
export type IssuerLogin = ReturnType<typeof openIssuerLogin>;

// The page before the console: it takes a one-time link, leads to the issuer's login, or says how
// to get in.

/** How people get in here: at the issuer, by a one-time link, or not at all. */
export type LoginWay = 'issuer' | 'link' | 'none';

/**
 * Why a login is refused, with its status and words: without a role, by the issuer's fault or an
 * answer that fits no login, by the person's own wish, or since the login is over or was begun
 * elsewhere.
 */
const faults = {
  refused: { status: 403, words: 'loginRefused' },
  failed: { status: 502, words: 'loginFailed' },
  cancelled: { status: 200, words: 'loginCancelled' },
  over: { status: 400, words: 'loginOver' },
} as const;
export type LoginFault = keyof typeof faults;

const texts = {
  en: {
    title: 'Console',
    issuer: 'Log in to see payments, payouts and webhooks.',
    link: 'You log in with a one-time link. Ask your administrator for one; where the service runs, this command prints it:',
    none: 'This installation has an OIDC issuer, but the console is not registered there: the operator must set OIDC_CLIENT_ID.',
    go: 'Log in',
    opening: 'Opening the console ...',
    over: 'This link has already been used, or its time has passed. Ask your administrator for a new one, or print it where the service runs:',
    failed: 'The service cannot answer right now. Open the link again in a moment.',
    loginRefused:
      'You have an account at the issuer, but it has no role here. Ask an administrator for one.',
    loginFailed: 'The login was not completed. Try again.',
    loginCancelled: 'The login was cancelled.',
    loginOver: 'This login has expired, or was started in another browser. Start again.',
    replace: 'Someone is already logged in in this browser. This link ends that session:',
    goOn: 'End it and continue',
    stay: 'Stay logged in',
  },
  ru: {
    title: 'Консоль',
    issuer: 'Войдите, чтобы видеть платежи, выплаты и вебхуки.',
    link: 'Вход — по одноразовой ссылке. Её даёт администратор; на сервере её печатает команда:',
    none: 'Здесь есть сервер входа, но консоль ему не известна: оператор задаёт OIDC_CLIENT_ID.',
    go: 'Войти',
    opening: 'Открываем консоль ...',
    over: 'Ссылка уже использована, или её время прошло. Попросите у администратора новую или напечатайте её на сервере:',
    failed: 'Сервис сейчас не ответил. Откройте ссылку ещё раз чуть позже.',
    loginRefused: 'Сервер входа вас знает, но роли здесь у вас нет. Попросите её у администратора.',
    loginFailed: 'Вход не завершён. Попробуйте ещё раз.',
    loginCancelled: 'Вход отменён.',
    loginOver: 'Этот вход уже закончен или начат в другом браузере. Начните его ещё раз.',
    replace: 'Здесь уже вошли. По этой ссылке тот сеанс в этом браузере закончится:',
    goOn: 'Закончить его и продолжить',
    stay: 'Остаться',
  },
} as const;

const command = html`<code>npm run console:link</code>`;

/** A page beside the console: with its look, and without its program. */
export const pageBeside = (
  language: string,
  title: string,
  main: Html,
  head: Piece = null,
): string =>
  markupText(
    html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}</title>
          <link rel="stylesheet" href="/console/enter/enter.css" />
          <link rel="icon" href="/console/enter/icon.svg" type="image/svg+xml" />
          ${head}
        </head>
        <body>
          <main>
            <img src="/console/enter/icon.svg" alt="" />
            <h1>${title}</h1>
            ${main}
          </main>
        </body>
      </html>`,
  );

/** The page in the reader's language; `fault` is what the issuer's login came to. */
export const sendEnterPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  way: LoginWay,
  fault: LoginFault | null = null,
): FastifyReply => {
  const language = preferredLanguage(request.headers['accept-language']);
  const words = texts[language];
  guardPage(reply);
  const head = html`<meta name="robots" content="noindex, nofollow" />
    <script src="/console/enter/enter.js" type="module"></script>`;
  const main = html`<div aria-live="polite">
    <div data-when="waiting">
      ${fault && html`<p class="bad">${words[faults[fault].words]}</p>`}
      <p>${words[way]} ${way === 'link' && command}</p>
      ${way === 'issuer' && html`<a class="go" href="/console/login">${words.go}</a>`}
    </div>
    <div data-when="asking" hidden>
      <p>${words.replace} <strong data-who></strong></p>
      <button class="go" type="button" data-go>${words.goOn}</button>
      <a class="stay" href="/console/">${words.stay}</a>
    </div>
    <p data-when="opening" hidden>${words.opening}</p>
    <p class="bad" data-when="over" hidden>${words.over} ${command}</p>
    <p class="bad" data-when="failed" hidden>${words.failed}</p>
  </div>`;
  return reply
    .code(fault ? faults[fault].status : 200)
    .type('text/html; charset=utf-8')
    .send(pageBeside(language, words.title, main, head));
};

const files: readonly ServedFile[] = [
  'console/browser/enter.js',
  ['enter.css', 'checkout/browser/base.css', 'console/browser/enter.css'],
  ...lookFiles,
];

export const serveEnterFiles = (app: FastifyInstance): void =>
  serveFiles(app, '/console/enter/', files, 'public, max-age=300');
