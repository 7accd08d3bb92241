/**
 * Sessions of the console as the edge knows them: asked for in the merchants subgraph, cached for
 * half a minute, and forgotten in every process at once when one ends (bus topic `sessions`).
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ConsoleSessionFieldsFragment } from '../../schema/generated/asked-of-merchants.ts';
import {
  makeConsoleLink,
  makeSecret,
  secretDigest,
} from '../../subgraphs/kernel/service/access/console-link.ts';
import type { LinkPerson } from '../../subgraphs/kernel/service/access/link-person.ts';
import type { Call, OperatorPrincipal } from '../../subgraphs/kernel/service/access/principal.ts';
import type { Bus } from '../../subgraphs/kernel/service/bus.ts';
import type { Logger } from '../../subgraphs/kernel/service/tracing/telemetry.ts';
import type { Supergraph } from '../supergraph.ts';

export type Session = Readonly<ConsoleSessionFieldsFragment>;

/** A session that has just begun: its secret goes into the cookie and nowhere else. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: Session;
}

export interface ConsoleSessions {
  /** The session of this secret; null when there is none or it is over. Notes its use. */
  readonly find: (secret: string) => Promise<Session | null>;
  /** The same, without noting a use: a socket that is only open is no use. */
  readonly look: (secret: string) => Promise<Session | null>;
  /** Whether this process has seen the secret's session, and it is not over. Makes no call. */
  readonly isLive: (secret: string) => boolean;
  /** Begins a session of a person whom the issuer has named. */
  readonly open: (person: Omit<OperatorPrincipal, 'kind'>) => Promise<OpenedSession>;
  /** Begins the session of whom a one-time link lets in; null when it is used or over. */
  readonly enter: (link: string) => Promise<OpenedSession | null>;
  /**
   * Makes a one-time link for a person, or for an administrator without a name: its address, and
   * when it is over. Null when the person's merchant does not exist.
   */
  readonly makeLink: (
    person: LinkPerson | null,
  ) => Promise<{ readonly url: string; readonly expiresAt: string } | null>;
  /** Ends the session of this secret in every process. */
  readonly end: (secret: string) => Promise<void>;
  /** Calls back with the id of a session that has ended; the returned function stops that. */
  readonly onEnd: (ended: (sessionId: string) => void) => () => void;
  readonly close: () => void;
}

export interface ConsoleSessionsParts {
  readonly supergraph: Pick<Supergraph, 'operation'>;
  readonly bus: Bus;
  readonly publicUrl: string;
  readonly log: Pick<Logger, 'warn'>;
}

const known_ms = 30_000;
const known_max = 10_000;
/** Its use is noted at most so often. */
const noted_ms = 60_000;

const asConsole = (): Call => ({
  principal: { kind: 'edge', name: 'console' },
  requestId: randomUUID(),
  isInLane: false,
});

type Answer<Data> = { readonly data?: Data | null; readonly errors?: readonly Error[] };

const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  const [error] = errors ?? [];
  if (error) throw error;
  if (!data) throw new Error('an answer about sessions without data');
  return data;
};

/** The cache of sessions, and its end. */
const openCache = (bus: Bus, find: (digest: string) => Promise<Session | null>) => {
  const known = new LRUCache<string, Session>({ max: known_max, ttl: known_ms });
  // Longer than they are cached: whoever was let in an hour ago need not prove it to a limit.
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
      log.warn({ err: error }, 'the use of a session could not be noted');
    });
  };
};

const openAsking = (supergraph: ConsoleSessionsParts['supergraph']) => ({
  find: supergraph.operation('FindConsoleSession'),
  open: supergraph.operation('OpenConsoleSession'),
  note: supergraph.operation('NoteConsoleSessionUse'),
  end: supergraph.operation('EndConsoleSession'),
  link: supergraph.operation('MakeConsoleLink'),
  enter: supergraph.operation('UseConsoleLink'),
});

/** Opens the sessions. */
export const openConsoleSessions = ({
  supergraph,
  bus,
  publicUrl,
  log,
}: ConsoleSessionsParts): ConsoleSessions => {
  const ask = openAsking(supergraph);
  const cache = openCache(
    bus,
    async (digest) => dataOf(await ask.find.run({ digest }, asConsole())).consoleSession,
  );
  const note = openNotes(async (digest) => {
    dataOf(await ask.note.run({ digest }, asConsole()));
    cache.forget(digest);
  }, log);
  const begun = (secret: string, session: Session): OpenedSession => {
    cache.note(secretDigest(secret), session);
    return { secret, session };
  };
  return {
    find: async (secret) => {
      const digest = secretDigest(secret);
      const session = await cache.find(digest);
      if (session) note(digest);
      return session;
    },
    look: (secret) => cache.find(secretDigest(secret)),
    isLive: (secret) => cache.isLive(secretDigest(secret)),
    open: async (person) => {
      const secret = makeSecret();
      const variables = { digest: secretDigest(secret), ...person };
      const answer = await ask.open.run(variables, asConsole());
      return begun(secret, dataOf(answer).consoleSessionOpen);
    },
    enter: async (link) => {
      const secret = makeSecret();
      const variables = { link: secretDigest(link), digest: secretDigest(secret) };
      const session = dataOf(await ask.enter.run(variables, asConsole())).consoleLinkUse;
      return session && begun(secret, session);
    },
    makeLink: async (person) => {
      const { url, digest } = makeConsoleLink(publicUrl);
      const answer = await ask.link.run({ digest, ...person }, asConsole());
      const expiresAt = dataOf(answer).consoleLinkMake;
      return expiresAt ? { url, expiresAt } : null;
    },
    end: async (secret) => {
      const digest = secretDigest(secret);
      cache.forget(digest);
      dataOf(await ask.end.run({ digest }, asConsole()));
    },
    onEnd: cache.onEnd,
    close: cache.close,
  };
};
