/** What buyers and the platform know of a merchant, and how each field is written. */
import { isEmail } from '../../rules/receipt-terms.ts';
import { textMistake } from '../../rules/texts.ts';

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

/** What is wrong with a profile, in words that name the field; null when nothing is. */
export const profileMistake = (profile: MerchantProfile): string | null => {
  const { legalName, inn, contactEmail, contactPhone, siteUrl, offerUrl } = profile;
  const mistakes = [
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
  return mistakes.find((mistake) => mistake !== null) ?? null;
};
