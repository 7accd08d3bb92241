/**
 * What a card looks like: pure rules, used as the buyer types. The bank decides; these only catch
 * slips of the finger. Brands by the first digits of ISO/IEC 7812 numbers, the check digit by its
 * Annex B (Luhn).
 */

/** @typedef {'mir' | 'visa' | 'mastercard' | 'unionpay'} Brand */

/**
 * The digits of a text, without anything else.
 * @param {string} text
 */
export const digitsOf = (text) => text.replace(/\D/g, '');

/**
 * The brand of a number by its first digits; null while they do not say.
 * @param {string} digits
 * @returns {Brand | null}
 */
export const brandOf = (digits) => {
  const four = Number(digits.slice(0, 4).padEnd(4, '0'));
  if (/^220[0-4]/.test(digits)) return 'mir';
  if (digits.startsWith('4')) return 'visa';
  if (/^5[1-5]/.test(digits) || (digits.length >= 4 && four >= 2221 && four <= 2720))
    return 'mastercard';
  if (/^(62|81)/.test(digits)) return 'unionpay';
  return null;
};

/**
 * The brand of a card that is not accepted, by its first digits; null for every other one.
 * @param {string} digits
 * @returns {'Amex' | 'Jcb' | 'Diners' | null}
 */
export const unacceptedBrandOf = (digits) => {
  if (/^3[47]/.test(digits)) return 'Amex';
  if (/^35(2[89]|[3-8])/.test(digits)) return 'Jcb';
  if (/^3(0[0-5]|095|[689])/.test(digits)) return 'Diners';
  return null;
};

/**
 * How many digits a number has at least and at most. Mir, UnionPay and Visa also have 19.
 * @param {string} digits
 */
export const lengthsOf = (digits) => {
  const brand = brandOf(digits);
  if (brand === 'mastercard') return { least: 16, most: 16 };
  if (brand === null) return { least: 13, most: 19 };
  return { least: 16, most: 19 };
};

/**
 * Whether the check digit is right.
 * @param {string} digits
 */
export const luhn = (digits) => {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
};

/**
 * Digits in groups of four, as they stand on a card.
 * @param {string} digits
 */
export const grouped = (digits) => digits.replace(/(\d{4})(?=\d)/g, '$1 ');

/**
 * An expiry date as MM/YY; takes what browsers fill in too (MM/YYYY) and puts the slash while
 * typing.
 * @param {string} text
 */
export const tidyExpiry = (text) => {
  let digits = digitsOf(text);
  // 5 can only begin as 05, and so can what is followed by a slash or a space.
  if (/^[2-9]/.test(digits) || /^\s*\d\s*[/.\- ]/.test(text)) digits = `0${digits}`;
  const [month, year] = [digits.slice(0, 2), digits.slice(2)];
  const short = year.length >= 4 ? year.slice(2, 4) : year.slice(0, 2);
  if (year === '') return /^\s*\d{1,2}\s*\D/.test(text) ? `${month}/` : month;
  // A year that is being typed in four digits is not cut until it is whole.
  return `${month}/${year.length === 3 ? year : short}`;
};

/**
 * What is wrong with a field.
 * @typedef {'Empty' | 'Short' | 'Wrong' | 'Past' | 'Amex' | 'Jcb' | 'Diners'} Flaw
 */

/** @typedef {'number' | 'expiry' | 'cvc' | 'holder'} FieldName */
/** @type {readonly FieldName[]} */
export const fieldNames = ['number', 'expiry', 'cvc', 'holder'];

/**
 * @param {string} text
 * @returns {Flaw | null}
 */
export const numberFlaw = (text) => {
  const digits = digitsOf(text);
  if (digits === '') return 'Empty';
  const unaccepted = unacceptedBrandOf(digits);
  if (unaccepted) return unaccepted;
  const { least, most } = lengthsOf(digits);
  if (digits.length < least) return 'Short';
  return digits.length <= most && luhn(digits) ? null : 'Wrong';
};

/**
 * A card is good through the last day of its month.
 * @param {string} text
 * @param {Date} now
 * @returns {Flaw | null}
 */
export const expiryFlaw = (text, now) => {
  if (text.trim() === '') return 'Empty';
  const match = /^(\d{2})\/(\d{2})$/.exec(text.trim());
  const month = Number(match?.[1]);
  if (!match || month < 1 || month > 12) return 'Wrong';
  const year = 2000 + Number(match[2]);
  const months = (year - now.getFullYear()) * 12 + month - 1 - now.getMonth();
  if (months < 0) return 'Past';
  return months > 12 * 20 ? 'Wrong' : null;
};

/**
 * @param {string} text
 * @returns {Flaw | null}
 */
export const cvcFlaw = (text) => (text === '' ? 'Empty' : /^\d{3}$/.test(text) ? null : 'Wrong');

/**
 * Latin letters, as cards have them.
 * @param {string} text
 * @returns {Flaw | null}
 */
export const holderFlaw = (text) => {
  if (text.trim() === '') return 'Empty';
  return /^[A-Za-z][A-Za-z .'-]*$/.test(text.trim()) ? null : 'Wrong';
};

/**
 * @param {FieldName} name
 * @param {string} text
 * @param {Date} now
 */
export const flawOf = (name, text, now) => {
  switch (name) {
    case 'number':
      return numberFlaw(text);
    case 'expiry':
      return expiryFlaw(text, now);
    case 'cvc':
      return cvcFlaw(text);
    case 'holder':
      return holderFlaw(text);
  }
};

/**
 * The card that the fields hold.
 * @param {(name: FieldName) => string} textOf
 */
export const cardOf = (textOf) => ({
  number: digitsOf(textOf('number')),
  expiry: tidyExpiry(textOf('expiry').trim()),
  cvc: textOf('cvc').trim(),
  holder: textOf('holder').trim().toUpperCase(),
});
