/**
 * Secrets that an embedded installation creates for itself and stores next to its data, readable by
 * its owner alone.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { makeDirectory } from './data-directory.ts';

/**
 * The text stored in `<dataDir>/<name>`; `make` creates it when there is none. A crash leaves
 * either no text or a complete one.
 */
const kept = (dataDir: string, name: string, make: () => string): string => {
  const path = join(dataDir, name);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  makeDirectory(resolve(dataDir));
  const made = make();
  writeFileSync(`${path}.new`, `${made}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
};

/** The secret key of this data directory, 32 bytes. */
export const localSecretKey = (dataDir: string): Buffer =>
  Buffer.from(
    kept(dataDir, 'secret-key', () => randomBytes(32).toString('base64')),
    'base64',
  );

/** The operator token of this data directory. */
export const localOperatorToken = (dataDir: string): string =>
  kept(dataDir, 'operator-token', () => `op_${randomBytes(24).toString('base64url')}`);
