/** What buyers and the platform know of a merchant, and how each field is written, and the limits of its settings. */
import {
  cabinetName_max_chars,
  secretOverlap_max_h,
  rateBurst_default,
  rateBurst_max,
  ratePerSecond_default,
  ratePerSecond_max,
} from '../../../schema/limits.ts';
import { isEmail } from '../../rules/receipt.ts';
import { textMistake, charactersOf } from '../../rules/refusal.ts';
import type { SignatureFormat } from '../webhooks/rules.ts';

const legalName_max_chars = 300;
const url_max_chars = 2_048;

/** A field that is null is not known. */
export interface MerchantProfile {
  readonly legalName: string | null;
  /** The taxpayer's number: 10 digits of a company, 12 of a person. */
  readonly inn: string | null;
  readonly contactEmail: string | null;
  readonly contactPhone: string | null;
  readonly siteUrl: string | null;
  /** The public offer, or the terms of sale. */
  readonly offerUrl: string | null;
}

/** As it comes from a caller. */
export type GivenProfile = {
  readonly [Field in keyof MerchantProfile]?: string | null | undefined;
};

const trimmed = (text: string | null | undefined): string | null => text?.trim() || null;

/** The same profile without blanks around its texts; what is blank is null. */
export const profileOf = (given: GivenProfile): MerchantProfile => ({
  legalName: trimmed(given.legalName),
  inn: trimmed(given.inn),
  contactEmail: trimmed(given.contactEmail),
  contactPhone: trimmed(given.contactPhone),
  siteUrl: trimmed(given.siteUrl),
  offerUrl: trimmed(given.offerUrl),
});

const companyWeights = [2, 4, 10, 3, 5, 9, 4, 6, 8];

/** The check digit over the digits before it. */
const checkDigit = (digits: readonly number[], weights: readonly number[]): number =>
  (weights.reduce((sum, weight, index) => sum + weight * (digits[index] ?? 0), 0) % 11) % 10;

const isInn = (inn: string): boolean => {
  if (!/^(\d{10}|\d{12})$/.test(inn)) return false;
  const digits = Array.from(inn, Number);
  if (digits.length === 10) return digits[9] === checkDigit(digits, companyWeights);
  const eleventh = checkDigit(digits, [7, ...companyWeights]);
  return digits[10] === eleventh && digits[11] === checkDigit(digits, [3, 7, ...companyWeights]);
};

const isWebAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '';
};

/** What is wrong with each field of a profile, in words that name the field; null where nothing is. */
export const profileMistakes = (profile: MerchantProfile): readonly (string | null)[] => {
  const { legalName, inn, contactEmail, contactPhone, siteUrl, offerUrl } = profile;
  return [
    textMistake('legalName', legalName, 1, legalName_max_chars),
    inn && !isInn(inn) ? 'inn: expected 10 or 12 digits with their check digits' : null,
    contactEmail && !isEmail(contactEmail) ? 'contactEmail: expected an e-mail address' : null,
    contactPhone && !/^\+\d{10,15}$/.test(contactPhone)
      ? 'contactPhone: expected + and 10 to 15 digits'
      : null,
    textMistake('siteUrl', siteUrl, 1, url_max_chars),
    siteUrl && !isWebAddress(siteUrl) ? 'siteUrl: expected an http or https address' : null,
    textMistake('offerUrl', offerUrl, 1, url_max_chars),
    offerUrl && !isWebAddress(offerUrl) ? 'offerUrl: expected an http or https address' : null,
  ];
};

// The limits of cabinet settings, such as the overlap of webhook secrets
// (docs/contract.md#rotation).

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

/** `burst` requests at once, `perSecond` in the long run. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

const defaultRateLimit: RateLimit = {
  perSecond: ratePerSecond_default,
  burst: rateBurst_default,
};

/** A merchant's stored limits: both, or neither for the default. */
export interface StoredRateLimit {
  readonly ratePerSecond: number | null;
  readonly rateBurst: number | null;
}

/** The limit that holds for a merchant. */
export const rateLimitOf = ({ ratePerSecond, rateBurst }: StoredRateLimit): RateLimit =>
  ratePerSecond === null || rateBurst === null
    ? defaultRateLimit
    : { perSecond: ratePerSecond, burst: rateBurst };

const isWithin = (value: number, max: number): boolean => value >= 1 && value <= max;

/** What is wrong with an operator's limits; null when nothing is. */
export const rateLimitMistake = ({ ratePerSecond, rateBurst }: StoredRateLimit): string | null => {
  if (ratePerSecond === null && rateBurst === null) return null;
  if (ratePerSecond === null || rateBurst === null)
    return 'perSecond and burst: expected both, or neither for the default';
  if (!isWithin(ratePerSecond, ratePerSecond_max))
    return `perSecond: expected an integer from 1 to ${ratePerSecond_max}, got ${ratePerSecond}`;
  return isWithin(rateBurst, rateBurst_max)
    ? null
    : `burst: expected an integer from 1 to ${rateBurst_max}, got ${rateBurst}`;
};
