/**
 * The user that PostgreSQL runs as. PostgreSQL refuses root, so a service that runs as root gives
 * it another user.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The environment of PostgreSQL's programs instead of ours: no secrets, nothing that changes their
 * behaviour.
 */
export const plainEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

// Empty: the system has no such user. Null: the lookup is not available.
const askId = (option: '-u' | '-g' | '-un', user: string): string | null => {
  const answer = spawnSync('id', [option, user], { encoding: 'utf8' });
  if (answer.error) return null;
  return answer.status === 0 ? answer.stdout.trim() : '';
};

const userNamed = (name: string): Owner | null => {
  const uid = Number(askId('-u', name));
  const gid = Number(askId('-g', name));
  return uid > 0 && gid > 0 ? { uid, gid } : null;
};

/**
 * Whether the system's user list knows this user id. In containers it often does not, and initdb
 * insists on it.
 */
export const hasName = (uid: number): boolean => askId('-un', `${uid}`) !== '';

/**
 * Null: PostgreSQL runs as we do. As root: the owner of the existing cluster, else the owner of
 * DATA_DIR, else the user `postgres`, else `nobody`. Throws, with a readable message, when this
 * process cannot become the cluster's owner.
 */
export const chooseOwner = (dataDir: string, cluster: string): Owner | null => {
  const self = process.getuid?.();
  if (self === undefined) return null;
  const existing = statSync(cluster, { throwIfNoEntry: false });
  if (self !== 0) {
    if (!existing || existing.uid === self) return null;
    throw new Error(
      `${cluster} belongs to the user with id ${existing.uid}, and this process runs as ${self}. ` +
        'Start it as that user or as root, or set DATA_DIR to another directory.',
    );
  }
  if (existing && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid };
  const { uid, gid } = statSync(dataDir);
  const chosen =
    uid !== 0 && hasName(uid) ? { uid, gid } : (userNamed('postgres') ?? userNamed('nobody'));
  if (chosen) return chosen;
  throw new Error(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. Start as another user, or set DATABASE_URL.',
  );
};
