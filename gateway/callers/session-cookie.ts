/**
 * The cookie of the console's session: out of reach of scripts, of other sites and, over https, of
 * other hosts (the prefix `__Host-`).
 */
import type { IncomingMessage } from 'node:http';

export interface SessionCookie {
  /** The secret in a request's cookie; null when there is none, or more than one. */
  readonly read: (request: Pick<IncomingMessage, 'headers'>) => string | null;
  /** The header that sets it for so many seconds; 0 takes it away. */
  readonly write: (secret: string, maxAge_s: number) => string;
}

/** The names and values of the cookies in a request, in the order in which they were sent. */
const cookiesOf = ({
  headers,
}: Pick<IncomingMessage, 'headers'>): readonly (readonly [name: string, value: string])[] =>
  (headers.cookie ?? '').split(';').map((pair) => {
    const [name = '', ...rest] = pair.trim().split('=');
    return [name, rest.join('=')];
  });

const form = /^[A-Za-z0-9_.-]{16,4096}$/;

/** Opens a cookie called `name`, for the service at `publicUrl`. */
const openCookie = (name: string, publicUrl: string): SessionCookie => {
  const secure = publicUrl.startsWith('https://');
  const full = secure ? `__Host-${name}` : name;
  return {
    read: (request) => {
      const sent = cookiesOf(request).filter(([one]) => one === full);
      const [[, value] = ['', '']] = sent;
      return sent.length === 1 && form.test(value) ? value : null;
    },
    write: (secret, maxAge_s) =>
      `${full}=${secret}; Path=/; Max-Age=${maxAge_s}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
};

/** Cookies of one kind: one for each thing that a browser is in the middle of. */
export interface CookieFamily {
  /** The cookie of one thing; null for a name that no cookie can have. */
  readonly of: (thing: string) => SessionCookie | null;
  /** Headers that take the oldest away, where a browser has sent more than `most`. */
  readonly dropOldest: (
    request: Pick<IncomingMessage, 'headers'>,
    most: number,
  ) => readonly string[];
}

/** Opens the cookies whose names begin with `name`. */
export const openCookies = (name: string, publicUrl: string): CookieFamily => {
  const of: CookieFamily['of'] = (thing) =>
    /^[A-Za-z0-9_-]{16,128}$/.test(thing) ? openCookie(`${name}-${thing}`, publicUrl) : null;
  const begin = new RegExp(`^(?:__Host-)?${name}-`);
  return {
    of,
    // Browsers send what they have had for longest first (RFC 6265, 5.4).
    dropOldest: (request, most) => {
      const things = cookiesOf(request).flatMap(([one]) =>
        begin.test(one) ? one.replace(begin, '') : [],
      );
      const dropped = things.slice(0, Math.max(0, things.length - most));
      return dropped.flatMap((thing) => of(thing)?.write('', 0) ?? []);
    },
  };
};

/** The console's own. */
export const openSessionCookie = (publicUrl: string): SessionCookie =>
  openCookie('console', publicUrl);
