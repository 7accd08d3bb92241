/**
 * The packages of an installation. `node test/tidy/packages.ts` writes the entries of
 * package-lock.json that npm leaves out.
 *
 * Npm locks only the packages that it could read. A registry that lacks a package made for another
 * platform leaves a hole, and `npm ci` refuses a lock file with holes, on every platform.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText, root } from './tree.ts';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Path under the root to package; the project itself has the empty path. */
type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** A package that another one asks for and the lock file does not have. */
interface Hole {
  readonly asker: string;
  readonly name: string;
  readonly range: string;
}

/** The lock file. */
const readLock = (): { packages: LockedPackages } => JSON.parse(readText('package-lock.json'));

export const { packages } = readLock();

/** Whether Node would find the package from the asker's folder, looking there and upwards. */
const isFound = (asker: string, name: string): boolean => {
  const here = asker === '' ? '' : `${asker}/`;
  if (packages[`${here}node_modules/${name}`]) return true;
  return (
    asker !== '' && isFound(asker.slice(0, Math.max(0, asker.lastIndexOf('/node_modules/'))), name)
  );
};

/** Every hole of the lock file. */
export const findHoles = (): readonly Hole[] =>
  Object.entries(packages).flatMap(([asker, { dependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...optionalDependencies })
      .filter(([name]) => !isFound(asker, name))
      .map(([name, range]) => ({ asker, name, range })),
  );

const platform = /(android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)(?:-([a-z]+))?$/;

/**
 * The entry of a package for one platform, known by its name: `@oxlint/binding-linux-arm64-musl`.
 * It has no digest, since the package could not be read: an installation on that platform trusts
 * its registry. Throws for a package that is not of one platform; only npm can add that.
 */
const entryFor = ({ asker, name, range }: Hole): LockedPackage => {
  const [, os, cpu, abi] = platform.exec(name) ?? [];
  if (!os || !cpu)
    throw new Error(`${asker} asks for ${name}, which is for every platform: npm install`);
  const libc = { gnu: ['glibc'], musl: ['musl'] }[abi ?? ''];
  const { dev, license } = packages[asker] ?? {};
  return {
    version: range.replace(/^[~^]/, ''),
    cpu: [cpu],
    ...(dev && { dev }),
    ...(libc && os === 'linux' && { libc }),
    ...(license && { license }),
    optional: true,
    os: [os],
  };
};

if (import.meta.main) {
  const holes = findHoles();
  const filled = Object.fromEntries(
    holes.map((hole) => [`node_modules/${hole.name}`, entryFor(hole)]),
  );
  const whole = Object.fromEntries(
    Object.entries({ ...packages, ...filled }).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
  );
  writeFileSync(
    join(root, 'package-lock.json'),
    `${JSON.stringify({ ...readLock(), packages: whole }, null, 2)}\n`,
  );
  console.log(`filled ${holes.length} holes of package-lock.json`);
}
