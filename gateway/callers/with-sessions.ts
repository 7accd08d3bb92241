/**
 * The graph's callers with a cookie instead of a bearer: people at the console. A browser sends the
 * cookie by itself, so a request must also show that a page of ours sent it: by its Origin and,
 * over HTTP, by a header that no other site can set (docs/decisions.md#cookies-run-known-operations).
 */
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { refuse, type Refusal } from '../../subgraphs/rules/refusal.ts';
import {
  type LinkPerson,
  makeConsoleLink,
  makeSecret,
  secretDigest,
} from '../../subgraphs/platform/access/link-person.ts';
import { roles, type OperatorPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Authenticator } from './authenticate.ts';
import { type Authenticated, type Authorization, dataOf, edgeCall } from './caller.ts';
import type { Origins } from '../../subgraphs/platform/access/caller-address.ts';
import { personName } from './limits.ts';
import type { ConsoleSessionFieldsFragment } from '../../schema/generated/asked-of-merchants.ts';
import type { Bus } from '../../subgraphs/platform/bus/bus.ts';
import type { Logger } from '../../subgraphs/platform/tracing/telemetry.ts';
import type { Supergraph } from '../supergraph.ts';

/*
 * Sessions of the console as the edge knows them: asked for in the merchants subgraph, cached for
 * half a minute, and forgotten in every process at once when one ends (bus topic `sessions`).
 */

export type Session = Readonly<ConsoleSessionFieldsFragment>;

/** A session that has just begun: its secret goes into the cookie and nowhere else. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: Session;
}

export interface ConsoleSessionsDeps {
  readonly supergraph: Pick<Supergraph, 'operation'>;
  readonly bus: Bus;
  readonly publicUrl: string;
  readonly log: Pick<Logger, 'warn'>;
}

const known_ms = 30_000;
const known_max = 10_000;
/** Its use is noted at most so often. */
const noted_ms = 60_000;

/** The cache of sessions, and its end. */
const openCache = (bus: Bus, find: (digest: string) => Promise<Session | null>) => {
  const known = new LRUCache<string, Session>({ max: known_max, ttl: known_ms });
  // Longer than they are cached: a caller who was let in an hour ago need not prove it again.
  const live = new LRUCache<string, { readonly id: string; readonly until_ms: number }>({
    max: known_max,
  });
  const listeners = new Set<(sessionId: string) => void>();
  let forgotten = 0;
  const close = bus.subscribe('sessions', ({ sessionId }) => {
    forgotten += 1;
    for (const [digest, { id }] of known.entries()) if (id === sessionId) known.delete(digest);
    for (const [digest, { id }] of live.entries()) if (id === sessionId) live.delete(digest);
    for (const ended of listeners) ended(sessionId);
  });
  const note = (digest: string, { id, until }: Session): void =>
    void live.set(digest, { id, until_ms: Date.parse(until) });
  return {
    find: async (digest: string): Promise<Session | null> => {
      const cached = known.get(digest);
      if (cached && Date.parse(cached.until) > Date.now()) return cached;
      const before = forgotten;
      const found = await find(digest);
      // An answer from before an end must not be kept behind it.
      if (found && before === forgotten) {
        known.set(digest, found);
        note(digest, found);
      } else if (!found) live.delete(digest);
      return found;
    },
    note,
    isLive: (digest: string): boolean => (live.get(digest)?.until_ms ?? 0) > Date.now(),
    forget: (digest: string) => void known.delete(digest),
    /** Calls back with the id of a session that has ended; the returned function stops that. */
    onEnd: (ended: (sessionId: string) => void) => {
      listeners.add(ended);
      return () => void listeners.delete(ended);
    },
    close,
  };
};

/** Notes the use of sessions, each at most once a minute; its end has then moved. */
const openNotes = (
  noteUse: (digest: string) => Promise<void>,
  log: Pick<Logger, 'warn'>,
): ((digest: string) => void) => {
  const noted = new LRUCache<string, true>({ max: known_max, ttl: noted_ms });
  return (digest) => {
    if (noted.has(digest)) return;
    noted.set(digest, true);
    noteUse(digest).catch((error: unknown) => {
      noted.delete(digest);
      log.warn({ err: error }, 'could not store the use of a session');
    });
  };
};

export const openConsoleSessions = ({ supergraph, bus, publicUrl, log }: ConsoleSessionsDeps) => {
  const ask = {
    find: supergraph.operation('FindConsoleSession'),
    open: supergraph.operation('OpenConsoleSession'),
    note: supergraph.operation('NoteConsoleSessionUse'),
    end: supergraph.operation('EndConsoleSession'),
    link: supergraph.operation('MakeConsoleLink'),
    enter: supergraph.operation('UseConsoleLink'),
  };
  const cache = openCache(
    bus,
    async (digest) => dataOf(await ask.find.run({ digest }, edgeCall('console'))).consoleSession,
  );
  const note = openNotes(async (digest) => {
    dataOf(await ask.note.run({ digest }, edgeCall('console')));
    cache.forget(digest);
  }, log);
  const begun = (secret: string, session: Session): OpenedSession => {
    cache.note(secretDigest(secret), session);
    return { secret, session };
  };
  return {
    /** The session of this secret; null when there is none or it is over. Notes its use. */
    find: async (secret: string): Promise<Session | null> => {
      const digest = secretDigest(secret);
      const session = await cache.find(digest);
      if (session) note(digest);
      return session;
    },
    /** The same, without noting a use: a socket that is only open is no use. */
    look: (secret: string) => cache.find(secretDigest(secret)),
    /** Whether this process has seen the secret's session, and it is not over. Makes no call. */
    isLive: (secret: string) => cache.isLive(secretDigest(secret)),
    /** Begins a session of a person whom the issuer has named. */
    open: async (person: Omit<OperatorPrincipal, 'kind'>): Promise<OpenedSession> => {
      const secret = makeSecret();
      const variables = { digest: secretDigest(secret), ...person };
      const answer = await ask.open.run(variables, edgeCall('console'));
      return begun(secret, dataOf(answer).consoleSessionOpen);
    },
    /** Begins the session of whom a one-time link lets in; null when it is used or over. */
    enter: async (link: string): Promise<OpenedSession | null> => {
      const secret = makeSecret();
      const variables = { link: secretDigest(link), digest: secretDigest(secret) };
      const session = dataOf(await ask.enter.run(variables, edgeCall('console'))).consoleLinkUse;
      return session && begun(secret, session);
    },
    /**
     * Makes a one-time link for a person, or for an administrator without a name: its address, and
     * when it is over. Null when the person's merchant does not exist.
     */
    makeLink: async (person: LinkPerson | null) => {
      const { url, digest } = makeConsoleLink(publicUrl);
      const answer = await ask.link.run({ digest, ...person }, edgeCall('console'));
      const expiresAt = dataOf(answer).consoleLinkMake;
      return expiresAt ? { url, expiresAt } : null;
    },
    /** Ends the session of this secret in every process. */
    end: async (secret: string): Promise<void> => {
      const digest = secretDigest(secret);
      cache.forget(digest);
      dataOf(await ask.end.run({ digest }, edgeCall('console')));
    },
    onEnd: cache.onEnd,
    close: cache.close,
  };
};
export type ConsoleSessions = ReturnType<typeof openConsoleSessions>;

/*
 * The cookie of the console's session: out of reach of scripts, of other sites and, over https, of
 * other hosts (the prefix `__Host-`).
 */

/** The names and values of the cookies in a request, in the order in which they were sent. */
const cookiesOf = ({
  headers,
}: Pick<IncomingMessage, 'headers'>): readonly (readonly [name: string, value: string])[] =>
  (headers.cookie ?? '').split(';').map((pair) => {
    const [name = '', ...rest] = pair.trim().split('=');
    return [name, rest.join('=')];
  });

const form = /^[A-Za-z0-9_.-]{16,4096}$/;

const openCookie = (name: string, publicUrl: string) => {
  const secure = publicUrl.startsWith('https://');
  const full = secure ? `__Host-${name}` : name;
  return {
    /** The secret in a request's cookie; null when there is none, or more than one. */
    read: (request: Pick<IncomingMessage, 'headers'>): string | null => {
      const sent = cookiesOf(request).filter(([one]) => one === full);
      const [[, value] = ['', '']] = sent;
      return sent.length === 1 && form.test(value) ? value : null;
    },
    /** The header that sets it for so many seconds; 0 takes it away. */
    write: (secret: string, maxAge_s: number): string =>
      `${full}=${secret}; Path=/; Max-Age=${maxAge_s}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
};

export type SessionCookie = ReturnType<typeof openCookie>;

/**
 * Opens the cookies whose names begin with `name`: one for each thing that a browser is in the
 * middle of.
 */
export const openCookies = (name: string, publicUrl: string) => {
  /** The cookie of one thing; null for a name that no cookie can have. */
  const of = (thing: string): SessionCookie | null =>
    /^[A-Za-z0-9_-]{16,128}$/.test(thing) ? openCookie(`${name}-${thing}`, publicUrl) : null;
  const begin = new RegExp(`^(?:__Host-)?${name}-`);
  return {
    of,
    /**
     * Headers that take the oldest away, where a browser has sent more than `most`. Browsers send
     * what they have had for longest first (RFC 6265, 5.4).
     */
    dropOldest: (request: Pick<IncomingMessage, 'headers'>, most: number): readonly string[] => {
      const things = cookiesOf(request).flatMap(([one]) =>
        begin.test(one) ? one.replace(begin, '') : [],
      );
      const dropped = things.slice(0, Math.max(0, things.length - most));
      return dropped.flatMap((thing) => of(thing)?.write('', 0) ?? []);
    },
  };
};

export const openSessionCookie = (publicUrl: string): SessionCookie =>
  openCookie('console', publicUrl);

/** The header that only our own pages send. */
export const consoleHeader = 'x-console';

interface SessionCallers {
  readonly sessions: Pick<ConsoleSessions, 'find' | 'look' | 'isLive' | 'onEnd'>;
  readonly cookie: Pick<SessionCookie, 'read'>;
  readonly origins: Pick<Origins, 'isOwn'>;
}

const sessionOver = refuse('unauthorized', 'The session has ended: log in again.');
const foreignPage = refuse(
  'scope_required',
  `Sessions work only on the console's own pages: send its Origin and the header ${consoleHeader}.`,
);
/** How often a socket looks whether its session is over, though no message came. */
const look_ms = 30_000;

/** Whether a page of ours has sent the request. No page can add a header to a WebSocket's. */
export const isOwnPage = (request: IncomingMessage, origins: Pick<Origins, 'isOwn'>): boolean =>
  origins.isOwn(request) &&
  (request.headers.upgrade !== undefined || request.headers[consoleHeader] !== undefined);

const callerOf = ({ id, subject, role, merchantId, endsAt }: Session): Authenticated => {
  const known = roles.find((one) => one === role);
  if (!known) throw new Error(`a session with the role ${role}`);
  return {
    principal: { kind: 'operator', subject, role: known, merchantId },
    person: personName({ subject, merchantId }),
    session: id,
    expiresAt_ms: Date.parse(endsAt),
  };
};

/** The authenticator of the graph, which also admits by the console's cookie. */
export const withSessions = (
  authenticator: Authenticator,
  { sessions, cookie, origins }: SessionCallers,
): Authenticator => {
  /** The cookie counts only where no bearer is sent. */
  const secretOf = (authorization: Authorization, request: IncomingMessage): string | null =>
    authorization === undefined || authorization.length === 0 ? cookie.read(request) : null;
  const admit = async (
    secret: string,
    request: IncomingMessage,
  ): Promise<Authenticated | Refusal> => {
    if (!isOwnPage(request, origins)) return foreignPage;
    const session = await sessions.find(secret);
    return session ? callerOf(session) : sessionOver;
  };
  return {
    ...authenticator,
    ofHeader: (authorization, request) => {
      const secret = secretOf(authorization, request);
      return secret === null
        ? authenticator.ofHeader(authorization, request)
        : admit(secret, request);
    },
    isKnown: (authorization, request) => {
      const secret = secretOf(authorization, request);
      return secret === null
        ? authenticator.isKnown(authorization, request)
        : sessions.isLive(secret);
    },
    watch: (connection, caller, lost, renewed) => {
      const secret = secretOf(connection.authorization, connection.request);
      if (caller.session === undefined || secret === null)
        return authenticator.watch(connection, caller, lost, renewed);
      const lose = (): void => {
        stop();
        lost(sessionOver);
      };
      const look = async (): Promise<void> => {
        // While the lookup fails the connection stays.
        const found = await sessions.look(secret).catch(() => undefined);
        if (found === null) lose();
      };
      const timer = setInterval(() => void look(), look_ms).unref();
      const unlisten = sessions.onEnd((id) => {
        if (id === caller.session) lose();
      });
      const stop = (): void => {
        clearInterval(timer);
        unlisten();
      };
      return stop;
    },
  };
};
