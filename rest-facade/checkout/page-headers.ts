/**
 * The headers of every answer under /pay: never cached, never framed, never indexed,
 * nothing from elsewhere.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

/* Whether a request that changes something came from our own page. */

/**
 * True for a request of our own page, and for a program that is no browser (it sends neither header
 * and carries no browser's rights). Sec-Fetch-Site decides where the browser sends it. Older ones send
 * Origin, which `no-referrer` turns into "null" for a plain form: there `nullAllowed` lets it
 * through, since the address of a page with a form is a secret.
 */
export const isSameOrigin = (request: FastifyRequest, nullAllowed = false): boolean => {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (origin === 'null') return nullAllowed;
  return URL.parse(origin)?.host === request.host;
};

/** Whether the answer is a page with a plain form. */
type Forms = 'no forms' | 'own form';

const policy = (forms: Forms): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    // Forms go nowhere else.
    `form-action ${forms === 'own form' ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Sets the headers of a page or an answer of the hosted page. */
export const guardPage = (reply: FastifyReply, forms: Forms = 'no forms'): void => {
  void reply.headers({
    'cache-control': 'no-store',
    'content-security-policy': policy(forms),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
  });
};
