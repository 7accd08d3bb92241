/**
 * The address of a customer's page: the customer and the expiry, sealed, so it cannot be guessed or
 * read and needs no table. It grants access like a session: anyone with the address sees the page.
 */
import * as v from 'valibot';
import { type Keys, seal, unseal } from '../../platform/access/keys.ts';
import type { KeyPrincipal } from '../../platform/access/principal.ts';
import { modes, type Mode } from '../../rules/mode.ts';
import { refuseMistakes, type Refusal, textMistake } from '../../rules/refusal.ts';
import { customerRef_max_chars, returnUrlMistake } from '../rules/token.ts';

const sessionTtl_default_min = 30;
const sessionTtl_max_min = 1_440;

export interface CustomerSession {
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  readonly customerRef: string;
  /** Where the page leads back to; null: nowhere. */
  readonly returnUrl: string | null;
  /** By the shop's clock. */
  readonly expiresAt: Temporal.Instant;
}

interface SessionInput {
  readonly customerRef: string;
  readonly returnUrl?: string | null | undefined;
  readonly ttlMinutes?: number | null | undefined;
}

/** A session of the key's shop, from `now` on; `bad_request` that names the field. */
export const newSession = (
  { merchantId, shopId, mode }: KeyPrincipal,
  { customerRef, returnUrl, ttlMinutes }: SessionInput,
  now: Temporal.Instant,
): CustomerSession | Refusal => {
  const minutes = ttlMinutes ?? sessionTtl_default_min;
  const wrong = refuseMistakes([
    textMistake('customer_ref', customerRef, 1, customerRef_max_chars),
    returnUrlMistake(returnUrl),
    minutes < 1 || minutes > sessionTtl_max_min
      ? `ttl_minutes: expected an integer from 1 to ${sessionTtl_max_min}, got ${minutes}`
      : null,
  ]);
  if (wrong) return wrong;
  const expiresAt = now.add({ minutes });
  return { merchantId, shopId, mode, customerRef, returnUrl: returnUrl ?? null, expiresAt };
};

/** What is sealed: merchant, shop, mode, customer, the way back, the end in milliseconds. */
const sealedFields = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictTuple([
    v.string(),
    v.string(),
    v.picklist(modes),
    v.string(),
    v.nullable(v.string()),
    v.number(),
  ]),
);

/** The last part of a session's address. Two of the same session differ. */
export const addressOfSession = (keys: Keys, session: CustomerSession): string => {
  const { merchantId, shopId, mode, customerRef, returnUrl, expiresAt } = session;
  const end_ms = expiresAt.epochMilliseconds;
  return seal(keys, JSON.stringify([merchantId, shopId, mode, customerRef, returnUrl, end_ms]));
};

const unsealed = (keys: Keys, address: string): string | null => {
  try {
    return unseal(keys, address);
  } catch {
    // Any error means that it is not our address.
    return null;
  }
};

/** The session of an address, which may be over; null when the address is not ours. */
export const sessionOfAddress = (keys: Keys, address: string): CustomerSession | null => {
  // Base64 has several encodings of a text; only one is ours.
  const [, , text = ''] = address.split('.');
  if (Buffer.from(text, 'base64url').toString('base64url') !== text) return null;
  const { success, output } = v.safeParse(sealedFields, unsealed(keys, address));
  if (!success) return null;
  const [merchantId, shopId, mode, customerRef, returnUrl, end_ms] = output;
  const expiresAt = Temporal.Instant.fromEpochMilliseconds(end_ms);
  return { merchantId, shopId, mode, customerRef, returnUrl, expiresAt };
};

/** A page that is open: its session, and the shop's name as buyers see it. */
export interface CustomerPage extends CustomerSession {
  readonly shopName: string;
}
