/** Keys of one purpose, while the secret key that they come from is being changed. */

/** One key or several: the first creates new values, and any of them reads existing ones. */
export type Keys = Buffer | readonly [current: Buffer, ...others: Buffer[]];

/** Every key, the current one first. */
export const allKeys = (keys: Keys): readonly [current: Buffer, ...others: Buffer[]] =>
  Buffer.isBuffer(keys) ? [keys] : keys;

/** The key that makes what is new. */
export const currentKey = (keys: Keys): Buffer => allKeys(keys)[0];
