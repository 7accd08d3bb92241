/** Turns a message of PostgreSQL or of the file system into what a person can do about it. */
const causes: readonly (readonly [RegExp, string])[] = [
  [
    /no space left on device|ENOSPC|disk quota exceeded|EDQUOT/i,
    'The disk is full: free some space, or set DATA_DIR to a directory on another disk.',
  ],
  [
    /read-only file system|EROFS/i,
    'The disk is read-only: set DATA_DIR to a directory that can be written to.',
  ],
  [
    /permission denied|operation not permitted|EACCES|EPERM/i,
    'This user cannot read or write it: give it to the user that runs the service (chown -R), or set DATA_DIR to another directory.',
  ],
  [
    /ENOTDIR|EEXIST/,
    'There is a file where a directory must be: move it away, or set DATA_DIR to another directory.',
  ],
  [
    /database files are incompatible/i,
    'It was made by another major version of PostgreSQL: set DATA_DIR to a new directory, and move the data with that version’s pg_dump.',
  ],
  [
    /password authentication failed/i,
    'Its password file is wrong: restore the right one, or set DATA_DIR to a new directory.',
  ],
  [
    /could not look up effective user ID/i,
    'This user id has no name in /etc/passwd, and PostgreSQL needs one to make a new cluster: add an entry, start as another user, or set DATABASE_URL.',
  ],
  [
    /could not create shared memory segment|could not map anonymous shared memory|cannot allocate memory/i,
    'There is not enough memory for PostgreSQL (it takes about 200 MB).',
  ],
];

export const wordsOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

const lastLines = (text: string, count: number): string =>
  text.trim().split('\n').slice(-count).join('\n');

/**
 * A remedy for a failure, by the message of PostgreSQL or the file system; undefined when the
 * message is unknown.
 */
export const adviceFor = (message: string): string | undefined =>
  causes.find(([pattern]) => pattern.test(message))?.[1];

/** A readable error: what failed and in which directory, the remedy, and the original message. */
export const explain = (attempt: string, directory: string, message: string): Error => {
  const advice = adviceFor(message);
  return new Error(
    `${attempt} in ${directory}.${advice ? ` ${advice}` : ''}\n${lastLines(message, 8)}`,
  );
};
