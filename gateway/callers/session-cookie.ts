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

const form = /^[A-Za-z0-9_.-]{16,4096}$/;

/** Opens a cookie called `name`, for the service at `publicUrl`. */
export const openCookie = (name: string, publicUrl: string): SessionCookie => {
  const secure = publicUrl.startsWith('https://');
  const full = secure ? `__Host-${name}` : name;
  return {
    read: ({ headers }) => {
      const sent = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${full}=`))
        .map((pair) => pair.slice(full.length + 1));
      const [value] = sent;
      return sent.length === 1 && value !== undefined && form.test(value) ? value : null;
    },
    write: (secret, maxAge_s) =>
      `${full}=${secret}; Path=/; Max-Age=${maxAge_s}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
};

/** The console's own. */
export const openSessionCookie = (publicUrl: string): SessionCookie =>
  openCookie('console', publicUrl);
