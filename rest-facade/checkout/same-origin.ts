/** Whether a request that changes something came from our own page. */
import type { FastifyRequest } from 'fastify';

/**
 * True for a request of our own page, and for a program that is no browser (it sends neither header
 * and carries nobody's rights). Sec-Fetch-Site decides where the browser sends it. Older ones send
 * Origin, which `no-referrer` turns into "null" for the bank's plain form: there `nullAllowed` lets
 * it through, since only the simulated bank has such a form and its address is a secret.
 */
export const isSameOrigin = (request: FastifyRequest, nullAllowed = false): boolean => {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (origin === 'null') return nullAllowed;
  return URL.parse(origin)?.host === request.host;
};
