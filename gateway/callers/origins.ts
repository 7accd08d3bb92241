/**
 * Which pages may talk to the graph from a browser: our own, and those of the origins that
 * `GRAPHQL_ORIGINS` names. A program that is no browser sends no Origin and is not concerned.
 */
import type { IncomingMessage } from 'node:http';

type WithHeaders = Pick<IncomingMessage, 'headers'>;

export interface Origins {
  /** Whether there are pages elsewhere that may call. */
  readonly hasOthers: boolean;
  /** Whether the request says that it comes from a page of this service. */
  readonly isOwn: (request: WithHeaders) => boolean;
  /** The origin of a page elsewhere that may call with a bearer; null when it is none. */
  readonly otherOf: (request: WithHeaders) => string | null;
  /** Whether a page of this origin, or no page at all, may open a socket. */
  readonly maySocket: (request: WithHeaders) => boolean;
}

/** Opens the check. `publicUrl` is the service's own address, `others` are exact origins. */
export const openOrigins = (publicUrl: string | null, others: readonly string[]): Origins => {
  const own = publicUrl === null ? null : (URL.parse(publicUrl)?.origin ?? null);
  const isOwn = ({ headers: { origin, host } }: WithHeaders): boolean => {
    if (origin === undefined) return false;
    if (origin === own) return true;
    const named = URL.parse(origin)?.host;
    return named !== undefined && named !== '' && named === host;
  };
  const otherOf = ({ headers: { origin } }: WithHeaders): string | null =>
    origin !== undefined && others.includes(origin) ? origin : null;
  return {
    hasOthers: others.length > 0,
    isOwn,
    otherOf,
    maySocket: (request) =>
      request.headers.origin === undefined || isOwn(request) || otherOf(request) !== null,
  };
};
