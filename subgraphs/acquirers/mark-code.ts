/**
 * Codes of marked products (tag 1163), as a merchant's scanner reads them: their kind follows from
 * their form.
 */
export interface MarkCode {
  readonly kind: 'ean8' | 'ean13' | 'itf14' | 'gs1m' | 'fur' | 'unknown';
  readonly code: string;
}

const forms = [
  ['fur', /^[A-Z]{2}-[A-Z0-9]{6}-[A-Z0-9]{10}$/],
  ['ean8', /^\d{8}$/],
  ['ean13', /^\d{13}$/],
  ['itf14', /^\d{14}$/],
  // A Data Matrix of GS1: its first field is the product, its second the serial number.
  ['gs1m', /^01\d{14}21.{1,182}$/s],
  ['unknown', /^.{1,32}$/s],
] as const;

/** A code by its kind; null when a receipt has no room for it. */
export const markCodeOf = (code: string): MarkCode | null => {
  const kind = forms.find(([, form]) => form.test(code))?.[0];
  return kind ? { kind, code } : null;
};
