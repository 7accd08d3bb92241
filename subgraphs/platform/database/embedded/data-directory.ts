/** DATA_DIR: created when missing, and tested before anything is stored there. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { adviceFor, wordsOf } from './explain.ts';

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a directory, readable by its owner alone, and its missing parents. Node's own `recursive`
 * never returns where the kernel answers ENOENT below an existing directory (/proc).
 */
export const makeDirectory = (path: string): void => {
  if (isDirectory(path)) return;
  const above = dirname(path);
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error;
  }
};

/**
 * Makes DATA_DIR and tries to write there. Throws one sentence for a person when that cannot be
 * done.
 */
export const ensureWritable = (dataDir: string): void => {
  const directory = resolve(dataDir);
  const trial = join(directory, `.trial-${randomBytes(6).toString('hex')}`);
  try {
    makeDirectory(directory);
    writeFileSync(trial, '', { flag: 'wx' });
    rmSync(trial);
  } catch (error) {
    const advice =
      adviceFor(wordsOf(error)) ?? 'Set DATA_DIR to a directory that can be written to.';
    throw new Error(
      `The data directory ${directory} cannot be used (${codeOf(error)}). ${advice}`,
      { cause: error },
    );
  }
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : wordsOf(error);
