/**
 * Whether what was built of the console is of these very sources. Plain JavaScript, because
 * setup.mjs asks it on whatever Node there is.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the build stands, and the file in it that holds its sources' digest. */
export const built = join(root, 'console', 'dist');
export const mark = 'sources.txt';

/** The digest of everything that the build reads; the versions of packages are in package.json. */
export const sourcesDigest = () => {
  const digest = createHash('sha256');
  /** @type {string[]} */
  const files = [
    // A folder has no extension, and each file has one.
    ...readdirSync(join(root, 'console/src'), { recursive: true })
      .filter((name) => extname(name) !== '')
      .map((name) => `console/src/${name.replaceAll('\\', '/')}`),
    'console/index.html',
    'console/build.ts',
    'schema/generated/console.ts',
    'package.json',
  ];
  for (const path of files.toSorted()) digest.update(path).update(readFileSync(join(root, path)));
  return digest.digest('hex');
};

/** Whether there is nothing to build. */
export const isBuilt = () => {
  const path = join(built, mark);
  return existsSync(path) && readFileSync(path, 'utf8') === sourcesDigest();
};

/**
 * Builds the console by `node` when its sources have changed, in a few seconds. Without it the
 * service runs all the same.
 *
 * @param {string} node
 * @param {(text: string) => void} say
 * @param {(text: string) => void} fail
 */
export const buildFirst = (node, say, fail) => {
  if (isBuilt()) return;
  const { status, signal } = spawnSync(node, ['console/build.ts'], { cwd: root, stdio: 'inherit' });
  if (signal) fail('Stopped before the console was built.');
  else if (status !== 0) say('The console could not be built, see above; /console answers 503.');
};
