/** Ids of objects and of the platform. A text that is no UUID names no object. */

/** The form of a UUID as the service prints it, as part of a regular expression. */
export const uuidForm = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

const canonical = new RegExp(`^${uuidForm}$`);
/** A whole text that is a UUID; callers may write one in upper case. */
export const uuidInAnyCase = new RegExp(`^${uuidForm}$`, 'i');

/** The public number of a payment, `P-<digits>`. */
export const publicIdInAnyCase = /^P-\d{1,18}$/i;

/** Whether a text can be an id at all, in either case. */
export const isUuid = (text: string): boolean => uuidInAnyCase.test(text);

/** Whether a text is an id as the service prints it, for ids that come back to it. */
export const isCanonicalUuid = (text: string): boolean => canonical.test(text);

/** An id of its 32 hexadecimal digits. */
export const uuidOf = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The merchant of rows about the platform: every key of a table starts with a merchant. */
export const platformMerchantId = '00000000-0000-0000-0000-000000000000';

/** The merchant of a row as callers know it; null for a row about the platform. */
export const merchantOrNone = (merchantId: string): string | null =>
  merchantId === platformMerchantId ? null : merchantId;
