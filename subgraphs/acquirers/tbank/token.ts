/**
 * T-Bank's signature: SHA-256 over the values of a message's own fields and the terminal's
 * password, in the order of their names. Objects and lists in a message are not signed.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

/** The `Token` of a message with these fields: 64 hexadecimal digits. */
export const tokenOf = (message: Fields, password: string): string => {
  const own = Object.entries<unknown>({ ...message, Password: password }).flatMap(
    ([name, value]): [string, string][] => {
      const isSigned =
        name !== 'Token' &&
        (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
      return isSigned ? [[name, String(value)]] : [];
    },
  );
  const inOrder = own.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(inOrder.map(([, value]) => value).join(''))
    .digest('hex');
};

/** Whether a message carries the token that its fields and our password make. */
export const hasToken = (message: Fields, password: string): boolean => {
  const { Token: token } = message;
  if (typeof token !== 'string' || !/^[0-9a-fA-F]{64}$/.test(token)) return false;
  return timingSafeEqual(Buffer.from(token, 'hex'), Buffer.from(tokenOf(message, password), 'hex'));
};
