/** Russian phones, as people write them. */

/**
 * `+7` and 10 digits, of any usual form: `8 (916) 123-45-67`, `79161234567`, `916 123 45 67`. Null
 * when the text is no such phone.
 */
export const phoneOf = (text: string): string | null => {
  const bare = text.replaceAll(/[\s().\-\u2010-\u2015]/g, '');
  const [, digits] = /^(?:\+?7|8)?([3489]\d{9})$/.exec(bare) ?? [];
  return digits === undefined ? null : `+7${digits}`;
};

/** A phone in groups: `+7 916 123-45-67`. What is no phone is returned as it is. */
export const phoneText = (text: string): string =>
  (phoneOf(text) ?? text).replace(/^\+7(\d{3})(\d{3})(\d\d)(\d\d)$/, '+7 $1 $2-$3-$4');
