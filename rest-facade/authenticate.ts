/** Who calls the REST API: decisions D-01 (one answer for every wrong key) and D-40a (one header, and the key nowhere else). */
import type { FastifyRequest } from 'fastify';
import type { Authenticator } from '../gateway/authenticate.ts';
import type { RateLimit } from '../gateway/token-bucket.ts';
import type { KeyPrincipal } from '../subgraphs/kernel/service/principal.ts';
import type { Logger } from '../subgraphs/kernel/service/telemetry.ts';
import { refuse, type Refusal } from './refusal-http.ts';

/** A merchant's key, recognised. */
export interface Caller {
  readonly principal: KeyPrincipal;
  readonly liveEnabled: boolean;
  readonly rateLimit: RateLimit;
}

/** How often a header was sent. Node keeps the first Authorization and joins most others, so that only the raw list tells. */
export const timesSent = (request: FastifyRequest, name: string): number => {
  const { rawHeaders } = request.raw;
  let times = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i];
    if (sent?.length === name.length && sent.toLowerCase() === name) times += 1;
  }
  return times;
};

/**
 * The caller, or why it is none: `unauthorized` (operators and buyers have no place here), `live_not_enabled`, or `unavailable` when
 * nobody can say who it is.
 */
export const authenticate = async (request: FastifyRequest, authenticator: Pick<Authenticator, 'ofHeader'>, log: Logger): Promise<Caller | Refusal> => {
  const header = timesSent(request, 'authorization') === 1 ? request.headers.authorization : undefined;
  try {
    const found = await authenticator.ofHeader(header);
    if (!('principal' in found)) return found;
    const { principal, holder } = found;
    if (principal.kind === 'key' && holder) return { principal, liveEnabled: holder.liveEnabled, rateLimit: holder.rateLimit };
    const nobody = await authenticator.ofHeader(undefined);
    return 'principal' in nobody ? refuse('unauthorized', 'an API key is required') : nobody;
  } catch (thrown) {
    log.error({ err: thrown, requestId: request.id }, 'a key could not be looked up');
    return refuse('unavailable', 'the service cannot check keys just now; try again');
  }
};
