/** What `npm start` installs: the packages that the service runs on, as they lie on this disk. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitRow, type Row } from '../report.ts';

const root = join(import.meta.dirname, '../../..');
const install_max_MB = 400;

interface LockedPackage {
  readonly dev?: true;
  readonly devOptional?: true;
}

/** What setup.mjs removes where only the service runs. */
const isRemoved = (path: string): boolean =>
  /^node_modules\/(?:@?typescript|node-[^/]+\/include)\//.test(path) ||
  /\.(?:[cm]?js|ts|css)\.map$/.test(path);

const bytesOf = (path: string): number => lstatSync(join(root, path)).blocks * 512;

/** What one package takes on the disk, without the packages in it. */
const bytesIn = (folder: string): number =>
  readdirSync(join(root, folder), { withFileTypes: true }).reduce((sum, entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesIn(path);
    return isRemoved(path) ? sum : sum + bytesOf(path);
  }, bytesOf(folder));

/** The row. Packages of development are left out, whether they are there or not. */
export const installRows = async (): Promise<readonly Row[]> => {
  const lock: unknown = JSON.parse(
    readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8'),
  );
  // npm's own list of what it has installed.
  const { packages } = lock as { readonly packages: Readonly<Record<string, LockedPackage>> };
  const runtime = Object.entries(packages).filter(
    ([, { dev, devOptional }]) => !dev && !devOptional,
  );
  const bytes = runtime.reduce((sum, [folder]) => sum + bytesIn(folder), 0);
  return [
    limitRow({
      what: `what npm start installs, ${runtime.length} packages`,
      measured: bytes / 1_048_576,
      most: install_max_MB,
      unit: 'MB',
    }),
  ];
};
