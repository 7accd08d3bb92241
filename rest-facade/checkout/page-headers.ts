/**
 * The headers of every answer under /pay: never cached, never framed, never indexed,
 * nothing from elsewhere.
 */
import type { FastifyReply } from 'fastify';

/** Whether the page holds a plain form: the simulated bank's does, and that of a link. */
type Forms = 'no forms' | 'own form';

const policy = (forms: Forms): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    // page.js sends what the buyer types; a plain form submission of a card cannot leave the page
    // at all.
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
