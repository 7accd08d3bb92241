/**
 * The entry to the console: its session, one-time links and the issuer's login. The console itself
 * uses the graph.
 */
import type { IncomingMessage } from 'node:http';
import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { authorizationOf, type Authenticator } from '../../gateway/callers/authenticate.ts';
import type { Origins } from '../../subgraphs/platform/access/caller-address.ts';
import { blockedMessage, type RateLimiter } from '../../gateway/callers/admit-caller.ts';
import {
  consoleHeader,
  isOwnPage,
  openCookies,
  type SessionCookie,
  type ConsoleSessions,
  type OpenedSession,
  type Session,
} from '../../gateway/callers/with-sessions.ts';
import { errorJson } from '../../schema/wire.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { readLinkPerson } from '../../subgraphs/platform/access/link-person.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import {
  pageBeside,
  sendEnterPage,
  serveEnterFiles,
  type LoginFault,
  type LoginWay,
  type IssuerLogin,
} from './login.ts';
import { preferredLanguage } from '../checkout/language.ts';
import { html, contentPolicy } from '../checkout/html.ts';
import { guardPage } from '../checkout/page-context.ts';
import { fileHeaders, prepareAnswer, sendAnswer, type FixedAnswer } from '../fixed-answer.ts';

/*
 * Serves the console as `console/build.ts` has built it: one page for every address, under a policy
 * without anything inline, and its files, whose names hold their digests.
 */

const built = join(import.meta.dirname, '../../console/dist');

interface Program {
  /** The page, with a place for the nonce. */
  readonly page: string;
  readonly files: ReadonlyMap<string, FixedAnswer>;
}

/** Reads what was built; null when nothing was. */
const readProgram = async (): Promise<Program | null> => {
  const page = await readFile(join(built, 'index.html'), 'utf8').catch(() => null);
  if (page === null) return null;
  const names = await readdir(join(built, 'assets'));
  const files = await Promise.all(
    names
      .filter((name) => extname(name) !== '.br')
      .map(async (name) => {
        const read = (file: string): Promise<Buffer> => readFile(join(built, 'assets', file));
        const headers = fileHeaders(name, 'public, max-age=31536000, immutable');
        const brotli = names.includes(`${name}.br`) ? await read(`${name}.br`) : null;
        return [name, await prepareAnswer(await read(name), headers, brotli)] as const;
      }),
  );
  return { page, files: new Map(files) };
};

const sendPage = (reply: FastifyReply, { page }: Program): FastifyReply => {
  const nonce = randomBytes(18).toString('base64');
  return reply
    .headers({
      'cache-control': 'no-store',
      // The widgets add one sheet of their own, which names the page's nonce.
      'content-security-policy': contentPolicy({ 'style-src': `'self' 'nonce-${nonce}'` }),
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'x-robots-tag': 'noindex, nofollow',
    })
    .type('text/html; charset=utf-8')
    .send(page.replace('{{nonce}}', nonce));
};

/** Whether the request is for a screen of the console: any address of it but those of programs. */
const isScreen = (path: string): boolean =>
  !/^(assets|enter|exports|login|links|session)(\/|$)/.test(path) && extname(path) === '';

const sendNothing = (reply: FastifyReply): FastifyReply =>
  send(reply, 404, 'not_found', 'there is nothing at this address');

/** Adds the console's page and files below `/console/`. */
const serveProgram = (app: FastifyInstance): void => {
  let reading: Promise<Program | null> | null = null;
  const program = (): Promise<Program | null> => (reading ??= readProgram());
  app.get('/console', (_request, reply) => reply.redirect('/console/', 303));
  app.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const file = (await program())?.files.get(request.params.name);
    return file ? sendAnswer(request, reply, file) : sendNothing(reply);
  });
  const screen = async (
    request: FastifyRequest<{ Params: { '*'?: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    if (!isScreen(request.params['*'] ?? '')) return sendNothing(reply);
    const found = await program();
    if (found) return sendPage(reply, found);
    reading = null;
    return send(reply, 503, 'unavailable', 'the console is not built: npm start builds it');
  };
  app.get('/console/', screen);
  app.get('/console/*', screen);
};

/* `/`: where everything is, as a page for people and as JSON for programs. */

const places = {
  console: '/console/',
  documentation: '/docs',
  openapi: '/v1/public/openapi.json',
  graphql: '/graphql',
  rest: '/v1/public',
} as const;

const texts = {
  en: {
    title: 'Payment service',
    text: 'Payments, payouts and subscriptions for merchants: a REST API, a GraphQL graph and a hosted page.',
    console: 'Open the console',
    links: [
      ['/docs/en/', 'Documentation', 'Guides from the first payment to going live'],
      ['/docs/reference/', 'API reference', 'Every route with its fields and errors'],
      ['/docs/webhooks/', 'Verifying webhooks', 'Functions in TypeScript, Python, PHP and Go'],
      ['/graphql', 'GraphQL', 'The whole graph, to explore in the browser'],
    ],
  },
  ru: {
    title: 'Платёжный сервис',
    text: 'Платежи, выплаты и подписки для магазинов: REST API, граф GraphQL и страница оплаты.',
    console: 'Открыть консоль',
    links: [
      ['/docs/ru/', 'Документация', 'От первого платежа до боевого режима'],
      ['/docs/reference/', 'Справочник API', 'Все методы, поля и ошибки (на английском)'],
      ['/docs/webhooks/', 'Проверка вебхуков', 'Функции на TypeScript, Python, PHP и Go'],
      ['/graphql', 'GraphQL', 'Весь граф — в браузере'],
    ],
  },
} as const;

const serveStartPage = (app: FastifyInstance): void => {
  app.get('/', (request, reply) => {
    void reply.header('vary', 'accept, accept-language');
    if (!(request.headers.accept ?? '').includes('text/html'))
      return reply.send({ name: 'payment-service', ...places });
    const language = preferredLanguage(request.headers['accept-language']);
    const words = texts[language];
    guardPage(reply);
    const main = html`<p>${words.text}</p>
      <a class="go" href="/console/">${words.console}</a>
      <ul class="places">
        ${words.links.map(
          ([address, name, about]) =>
            html`<li>
              <a href="${address}"><strong>${name}</strong> <span>${about}</span></a>
            </li>`,
        )}
      </ul>`;
    return reply.type('text/html; charset=utf-8').send(pageBeside(language, words.title, main));
  });
};

export interface ConsoleDeps {
  readonly sessions: ConsoleSessions;
  readonly cookie: SessionCookie;
  readonly origins: Origins;
  readonly authenticator: Pick<Authenticator, 'ofHeader' | 'isKnown'>;
  readonly limiter: Pick<RateLimiter, 'blocked_s' | 'countFailure'>;
  readonly publicUrl: string;
  /** Null: there is no login at the issuer. */
  readonly issuerLogin: IssuerLogin | null;
  /** Whether one-time links are made: where no issuer says who people are. */
  readonly hasLinks: boolean;
  readonly log: Logger;
}

const noLinks = 'links are disabled here: people log in at the issuer';

/** How long a login at the issuer may take. */
const login_s = 600;

/** Failed entries are counted apart from calls without a key, which anybody's page may cause. */
const linkEntry = 'console-link';
const loginEntry = 'console-login';
/** So many logins wait in one browser: in tabs that were left at the issuer. */
const waitingLogins_max = 5;
/** Logins that have come back and are remembered, so that each is good once. */
const spentLogins_max = 10_000;

const withLink = v.object({
  link: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)),
  replace: v.optional(v.boolean()),
});

const forPerson = v.nullish(
  v.object({
    person: v.optional(v.string()),
    role: v.optional(v.string()),
    merchant: v.optional(v.string()),
  }),
);

const sessionJson = ({ subject, role, merchantId, until, endsAt }: Session) => ({
  subject,
  role,
  merchant_id: merchantId,
  until,
  ends_at: endsAt,
});

const send = (reply: FastifyReply, status: number, code: string, message: string): FastifyReply =>
  reply.code(status).send(errorJson(code, message));

const sendForeign = (reply: FastifyReply): FastifyReply =>
  send(reply, 403, 'forbidden', `only the console's own pages may do this, with ${consoleHeader}`);

/** The session of a request's cookie; null when no session is active. */
const liveSession = async (
  request: Pick<IncomingMessage, 'headers'>,
  { cookie, sessions }: ConsoleDeps,
): Promise<Session | null> => {
  const secret = cookie.read(request);
  return secret === null ? null : sessions.find(secret);
};

/** Sets the cookie of a new session, and ends the one that the browser had. */
const begin = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { secret, session }: OpenedSession,
  { sessions, cookie }: ConsoleDeps,
): Promise<void> => {
  const before = cookie.read(request.raw);
  if (before !== null) await sessions.end(before);
  const life_s = Math.ceil((Date.parse(session.endsAt) - Date.now()) / 1_000);
  void reply.header('set-cookie', cookie.write(secret, life_s));
};

/** `/console/session`: who is logged in, in by a link, and out. */
const addSession = (app: FastifyInstance, deps: ConsoleDeps): void => {
  const { sessions, cookie, origins, limiter } = deps;
  app.get('/console/session', async ({ raw }, reply) => {
    const session = await liveSession(raw, deps);
    return session
      ? reply.send(sessionJson(session))
      : send(reply, 401, 'unauthorized', 'no session is active');
  });
  app.post('/console/session', async (request, reply) => {
    if (!isOwnPage(request.raw, origins)) return sendForeign(reply);
    // Opening a link that someone sent must not end the visitor's session unasked.
    const before = await liveSession(request.raw, deps);
    if (before && !(v.is(withLink, request.body) && request.body.replace === true))
      return reply.code(409).send({
        ...errorJson(
          'session_exists',
          'another session is active in this browser; send replace: true to end it',
        ),
        session: sessionJson(before),
      });
    // A good link is good although others have tried bad ones from the same address.
    const opened =
      deps.hasLinks && v.is(withLink, request.body)
        ? await sessions.enter(request.body.link)
        : null;
    if (!opened) {
      const blocked_s = limiter.blocked_s(request.raw, linkEntry);
      limiter.countFailure(request.raw, linkEntry);
      return blocked_s > 0
        ? send(
            reply.header('retry-after', String(blocked_s)),
            429,
            'rate_limited',
            blockedMessage(blocked_s),
          )
        : send(reply, 401, 'unauthorized', 'the link has been used, has expired or never existed');
    }
    await begin(request, reply, opened, deps);
    return reply.code(201).send(sessionJson(opened.session));
  });
  app.delete('/console/session', async (request, reply) => {
    if (!isOwnPage(request.raw, origins)) return sendForeign(reply);
    const secret = cookie.read(request.raw);
    if (secret !== null) await sessions.end(secret);
    return reply.header('set-cookie', cookie.write('', 0)).code(204).send();
  });
};

/**
 * `/console/links`: a platform's administrator, by bearer, makes a one-time link, for a person whom
 * the body may name.
 */
const addLinks = (
  app: FastifyInstance,
  { sessions, authenticator, limiter, log }: ConsoleDeps,
): void => {
  app.post('/console/links', async ({ raw, body }, reply) => {
    const authorization = authorizationOf(raw);
    if (limiter.blocked_s(raw) > 0 && !authenticator.isKnown(authorization, raw))
      return send(reply, 429, 'rate_limited', 'too many failures');
    const caller = await authenticator.ofHeader(authorization, raw);
    if (isRefusal(caller)) {
      limiter.countFailure(raw);
      return send(reply, 401, caller.code, caller.message);
    }
    const { principal } = caller;
    if (principal.kind !== 'operator' || principal.role !== 'admin' || principal.merchantId)
      return send(reply, 403, 'scope_required', "links are for the platform's administrators");
    const words = v.safeParse(forPerson, body);
    if (!words.success)
      return send(reply, 400, 'bad_request', 'person, role, merchant: expected strings');
    const person = readLinkPerson(words.output ?? {});
    if (person && isRefusal(person)) return send(reply, 400, person.code, person.message);
    const link = await sessions.makeLink(person);
    if (!link) return send(reply, 404, 'not_found', 'merchant: there is no such merchant');
    log.info({ subject: principal.subject, person }, 'created a one-time console link');
    return reply
      .code(201)
      .send({ url: link.url, expires_at: link.expiresAt, person: person?.subject ?? null });
  });
};

/** The result of the issuer's answer: a session, or the failure. */
const finishLogin = async (
  request: FastifyRequest,
  sealed: string,
  issuer: IssuerLogin,
  { publicUrl, sessions, limiter, log }: ConsoleDeps,
): Promise<OpenedSession | LoginFault> => {
  try {
    const person = await issuer.finish(new URL(`${publicUrl}${request.url}`), sealed);
    if (isRefusal(person) || person.principal.kind !== 'operator') return 'refused';
    const { subject, role, merchantId } = person.principal;
    return await sessions.open({ subject, role, merchantId });
  } catch (error) {
    log.warn({ err: error, requestId: request.id }, 'a login was not completed');
    limiter.countFailure(request.raw, loginEntry);
    return 'failed';
  }
};

/** The other parameters of an issuer's answer: OpenID Connect Core 3.1.2.5 and 3.1.2.6. */
const loginAnswer = v.object({ state: v.optional(v.string()), error: v.optional(v.string()) });

/** `/console/login`: to the issuer, and back. */
const addLogin = (app: FastifyInstance, issuer: IssuerLogin, deps: ConsoleDeps): void => {
  const { limiter } = deps;
  const waiting = openCookies('console-login', deps.publicUrl);
  const spent = new LRUCache<string, true>({ max: spentLogins_max, ttl: login_s * 1_000 });
  /** The issuer is asked once for each login that was begun, and not for one address all the time. */
  const finish = async (
    request: FastifyRequest,
    sealed: string | null,
  ): Promise<OpenedSession | LoginFault> => {
    if (v.is(loginAnswer, request.query) && request.query.error === 'access_denied')
      return 'cancelled';
    if (sealed === null || spent.has(sealed)) return 'over';
    if (limiter.blocked_s(request.raw, loginEntry) > 0) return 'failed';
    spent.set(sealed, true);
    return finishLogin(request, sealed, issuer, deps);
  };
  app.get('/console/login', async (request, reply) => {
    const begun = await issuer.begin().catch((error: unknown) => {
      deps.log.error({ err: error, requestId: request.id }, 'could not reach the issuer');
      return null;
    });
    if (!begun) return sendEnterPage(request, reply, 'issuer', 'failed');
    const cookie = waiting.of(begun.state)?.write(begun.sealed, login_s) ?? [];
    const dropped = waiting.dropOldest(request.raw, waitingLogins_max - 1);
    return reply.header('set-cookie', [...dropped, cookie].flat()).redirect(begun.url, 303);
  });
  app.get('/console/login/return', async (request, reply) => {
    const state = v.is(loginAnswer, request.query) ? request.query.state : undefined;
    const cookie = state === undefined ? null : waiting.of(state);
    const sealed = cookie?.read(request.raw) ?? null;
    if (cookie && sealed !== null) void reply.header('set-cookie', cookie.write('', 0));
    const opened = await finish(request, sealed);
    // A person who goes back to an answer is logged in by then.
    if (opened === 'over' && (await liveSession(request.raw, deps)))
      return reply.redirect('/console/', 303);
    if (typeof opened === 'string') return sendEnterPage(request, reply, 'issuer', opened);
    await begin(request, reply, opened, deps);
    return reply.redirect('/console/', 303);
  });
};

export const registerConsole = async (app: FastifyInstance, deps: ConsoleDeps): Promise<void> => {
  const { issuerLogin, hasLinks } = deps;
  const way: LoginWay = issuerLogin ? 'issuer' : hasLinks ? 'link' : 'none';
  await app.register(async (scope) => {
    scope.get('/console/enter', (request, reply) => sendEnterPage(request, reply, way));
    serveEnterFiles(scope);
    serveStartPage(scope);
    serveProgram(scope);
    addSession(scope, deps);
    if (hasLinks) addLinks(scope, deps);
    else scope.post('/console/links', (_, reply) => send(reply, 404, 'not_found', noLinks));
    if (issuerLogin) addLogin(scope, issuerLogin, deps);
  });
};
