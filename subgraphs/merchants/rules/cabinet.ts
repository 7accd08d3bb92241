/**
 * The limits of cabinet settings, such as the overlap of webhook secrets
 * (docs/contract.md#rotation).
 */
import { cabinetName_max_chars, secretOverlap_max_h } from '../../../schema/limits.ts';
import { charactersOf } from '../../rules/texts.ts';
import type { SignatureFormat } from '../webhooks/rules.ts';

export const shopsPerMerchant_max = 500;
export const endpointsPerShop_max = 20;

/**
 * What is wrong with the name of a merchant, a shop or a terminal, in words that begin with
 * `field`; null when nothing is.
 */
export const nameMistake = (field: string, name: string): string | null => {
  if (name.trim() === '') return `${field}: must not be empty`;
  const came = charactersOf(name);
  return came > cabinetName_max_chars
    ? `${field}: must have at most ${cabinetName_max_chars} characters, got ${came}`
    : null;
};

/**
 * What is wrong with a rotation's overlap; null when nothing is. The legacy header has room for one
 * signature, so it allows no overlap.
 */
export const overlapMistake = (hours: number, signature: SignatureFormat): string | null => {
  if (hours < 0 || hours > secretOverlap_max_h)
    return `overlapHours: expected an integer from 0 to ${secretOverlap_max_h}, got ${hours}`;
  return hours > 0 && signature === 'legacy'
    ? 'overlapHours: the legacy signature cannot carry two signatures; rotate without an overlap'
    : null;
};

/** Until when the previous secret also signs; null when it stops at once. */
export const overlapEnd = (now: Temporal.Instant, hours: number): Temporal.Instant | null =>
  hours === 0 ? null : now.add({ hours });
