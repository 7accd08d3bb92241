/**
 * Webhooks: signatures, deadlines and the schedule of retries. The body's bytes are frozen; each
 * attempt has a fresh `t` and signature. While a rotation overlaps, both secrets sign.
 */
import { createHmac } from 'node:crypto';
import type { enums } from '../../../schema/generated/enums.ts';

/** From the start of an attempt to its answer, connecting included. */
export const webhookDeadline_ms = 15_000;
/** How much longer than the deadline the lease is: time to store the result. */
export const webhookLeaseMargin_ms = 15_000;
/**
 * Concurrent attempts in one lane over all processes, so that one dead receiver delays no other.
 */
export const webhooksInFlightPerLane_max = 10;
/**
 * Concurrent attempts of one merchant in a process, and how many of them to payments' own
 * addresses. Hanging receivers take no room from other merchants, and own addresses none from
 * endpoints.
 */
export const webhooksInFlightOfMerchant_max = 100;
export const webhooksInFlightToOwn_max = 50;
/** So many in a process. */
export const webhooksInFlight_max = 2_000;
/**
 * Bytes of an answer's body that are read so the connection can be reused; a longer body closes it.
 */
export const webhookAnswerRead_max_bytes = 16_384;
/** So much of what was read is kept with the attempt. */
export const webhookAnswerKept_max_chars = 1_024;
/** Sockets to one origin of one process. */
export const webhookSocketsPerOrigin_max = 256;
const second_ms = 1_000;
const minute_ms = 60 * second_ms;
const hour_ms = 60 * minute_ms;

/** The wait before each retry; after the last one fails, delivery stops. */
export const webhookRetryDelays_ms = [
  10 * second_ms,
  minute_ms,
  5 * minute_ms,
  30 * minute_ms,
  2 * hour_ms,
  6 * hour_ms,
  24 * hour_ms,
  48 * hour_ms,
] as const;
/**
 * Retries are delayed by at most this share of the wait, so that deliveries that failed together
 * are retried apart.
 */
const webhookRetryJitter_share = 0.1;

export type SignatureFormat = (typeof enums.WebhookSignature)[number];

const digest = (secret: string, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', secret).update(text, 'utf8').digest(encoding);

const hmac = (secret: string, text: string): string => digest(secret, text, 'hex');

const unixSeconds = (at: Temporal.Instant): string =>
  Math.floor(at.epochMilliseconds / second_ms).toString();

/** The secrets that sign: whole `whs_...` texts. */
interface SigningSecrets {
  readonly current: string;
  /** The one before the rotation, while the two overlap. */
  readonly previous: string | null;
}

const allOf = ({ current, previous }: SigningSecrets): readonly string[] =>
  previous === null ? [current] : [current, previous];

/**
 * Signs a body. `body` is exactly what is sent, `at` the moment of the attempt. v2: `v1` over the
 * raw body, `v2` over `<t>.<raw body>`. stripe: both over `<t>.<raw body>`, so that Stripe's own
 * verifier accepts it. A previous secret adds a second `v1` and `v2` behind the current one's, as
 * Stripe does: a receiver accepts any that fits. The legacy header has room for one signature, the
 * current one's.
 */
export const sign = (
  secrets: SigningSecrets,
  body: string,
  at: Temporal.Instant,
  format: Exclude<SignatureFormat, 'standard'>,
) => {
  if (format === 'legacy') return { 'X-PSP-Signature': `sha256=${hmac(secrets.current, body)}` };
  const timestamp = unixSeconds(at);
  const signatures = allOf(secrets).map((secret) => {
    const overBoth = hmac(secret, `${timestamp}.${body}`);
    return `v1=${format === 'stripe' ? overBoth : hmac(secret, body)},v2=${overBoth}`;
  });
  return {
    'X-PSP-Signature': `t=${timestamp},${signatures.join(',')}`,
    'X-PSP-Timestamp': timestamp,
  };
};

/**
 * Signs a body as the Standard Webhooks specification does: over `<id>.<timestamp>.<raw body>`.
 * `id` is the event's (`evt_...`), `at` the moment of the attempt. The key is the whole `whs_`
 * text, which `shownSecret` writes for libraries. A previous secret signs behind the current one.
 */
export const signStandard = (
  secrets: SigningSecrets,
  id: string,
  body: string,
  at: Temporal.Instant,
) => {
  const timestamp = unixSeconds(at);
  const signatures = allOf(secrets).map(
    (secret) => `v1,${digest(secret, `${id}.${timestamp}.${body}`, 'base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
};

/** A webhook secret in the forms in which it is shown, once. */
export interface ShownSecret {
  /** `whs_...`. */
  readonly secret: string;
  /** `whsec_` and the base64 of the whole `whs_` text, for libraries of Standard Webhooks. */
  readonly standardSecret: string;
}

/** Shows a secret (`whs_...`) in both forms. */
export const shownSecret = (secret: string): ShownSecret => ({
  secret,
  standardSecret: `whsec_${Buffer.from(secret, 'utf8').toString('base64')}`,
});

/** The delivery after an attempt. */
export type AfterAttempt =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly nextAttemptAt: Temporal.Instant }
  | { readonly status: 'failed' };

/**
 * Decides what follows an attempt that ended at `now`. `status` is that of the answer, null without
 * one; `pointless`: it could not be sent and never will be, since its endpoint is disabled or gone.
 * `attempts` includes it, counted since the delivery was created or resent; `chance` (0 to 1)
 * chooses the jitter. Success is any 2xx. Redirects are not followed, so they are failures.
 */
export const afterAttempt = (
  status: number | 'pointless' | null,
  attempts: number,
  now: Temporal.Instant,
  chance: number,
): AfterAttempt => {
  if (typeof status === 'number' && status >= 200 && status <= 299) return { status: 'delivered' };
  const delay_ms = webhookRetryDelays_ms[attempts - 1];
  if (status === 'pointless' || delay_ms === undefined) return { status: 'failed' };
  const wait_ms = Math.round(delay_ms * (1 + webhookRetryJitter_share * chance));
  return { status: 'pending', nextAttemptAt: now.add({ milliseconds: wait_ms }) };
};
