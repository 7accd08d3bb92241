/**
 * The graph's callers with a cookie instead of a bearer: people at the console. A browser sends the
 * cookie by itself, so a request must also show that a page of ours sent it: by its Origin and,
 * over HTTP, by a header that no other site can set (docs/decisions.md#cookies-run-known-operations).
 */
import type { IncomingMessage } from 'node:http';
import { refused, type Refused } from '../../subgraphs/kernel/rules/refusal.ts';
import { roles } from '../../subgraphs/kernel/service/access/principal.ts';
import type { Authenticator } from './authenticate.ts';
import type { Authenticated, Authorization } from './caller.ts';
import type { ConsoleSessions, Session } from './console-sessions.ts';
import type { Origins } from './origins.ts';
import { personName } from './quota.ts';
import type { SessionCookie } from './session-cookie.ts';

/** The header that only our own pages send. */
export const consoleHeader = 'x-console';

export interface SessionCallers {
  readonly sessions: Pick<ConsoleSessions, 'find' | 'look' | 'isLive' | 'onEnd'>;
  readonly cookie: Pick<SessionCookie, 'read'>;
  readonly origins: Pick<Origins, 'isOwn'>;
}

const sessionOver = refused('unauthorized', 'The session has ended: log in again.');
const foreignPage = refused(
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
  ): Promise<Authenticated | Refused> => {
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
