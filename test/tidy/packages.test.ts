/**
 * What is installed: exact versions, no registry's address, licences that a closed product may be
 * built on.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import packageJson from '../../package.json' with { type: 'json' };
import { findHoles, packages } from './packages.ts';

const locked = Object.entries(packages).filter(([path]) => path !== '');

const permissive = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '(MIT AND BSD-3-Clause)',
  '(MIT OR CC0-1.0)',
  'Unlicense',
]);

/**
 * Elastic License 2.0 allows this use: it forbids offering the software itself to others as a
 * managed service.
 */
const elastic = [
  '@apollo/composition',
  '@apollo/federation-internals',
  '@apollo/gateway',
  '@apollo/query-graphs',
  '@apollo/query-planner',
];

/**
 * A compiler of style sheets behind Vite, which builds the console: it is used as it comes, and
 * nothing of it is in what is served. Its licence asks for changed files of its own alone.
 */
const builds = /^lightningcss(-|$)/;

describe('packages', () => {
  test('every version in package.json is exact', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = packageJson;
    const nested = Object.values(overrides).flatMap((override) =>
      typeof override === 'string' ? [override] : Object.values(override),
    );
    const direct = Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies });
    const versions = [...direct, ...nested];
    assert.ok(versions.length > 30, `saw only ${versions.length} packages`);
    // `$name` is the version that stands above, and `npm:name@` another name of a package.
    assert.deepEqual(
      versions.filter(
        (version) => !/^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$|^\$[\w-]+$/.test(version),
      ),
      [],
    );
  });

  test('the lock file has no hole, which npm ci would refuse (node test/tidy/packages.ts fills them)', () => {
    assert.ok(locked.length > 300, `saw only ${locked.length} packages`);
    assert.deepEqual(findHoles(), []);
  });

  test('the lock file has no address, so that any registry serves it, and a digest for every package that is not for one platform', () => {
    assert.deepEqual(
      locked.filter(
        ([, entry]) =>
          entry.resolved !== undefined ||
          (!entry.integrity?.startsWith('sha512-') && entry.os === undefined),
      ),
      [],
    );
  });

  test('every package of an installation has a licence from the list', (t) => {
    const production = locked.filter(([, { dev }]) => !dev);
    t.diagnostic(`${production.length} packages`);
    assert.ok(production.length > 200, `saw only ${production.length} packages`);
    const named = production.map(([path, { license }]) => ({
      name: path.split('node_modules/').at(-1) ?? path,
      license: license ?? 'none',
    }));
    const others = named.filter(
      ({ name, license }) =>
        !permissive.has(license) && !(builds.test(name) && license === 'MPL-2.0'),
    );
    assert.deepEqual(
      others,
      elastic.map((name) => ({ name, license: 'Elastic-2.0' })),
    );
  });
});
