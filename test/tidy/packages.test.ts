/** What is installed: exact versions, no registry's address, licences that a closed product may be built on, nothing that is not used. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import lock from '../../package-lock.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import { edgesOf } from './edges.ts';
import { readText, typescriptFiles } from './tree.ts';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

const locked: readonly (readonly [path: string, LockedPackage])[] = Object.entries<LockedPackage>(lock.packages).filter(([path]) => path !== '');

const permissive = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', '(MIT AND BSD-3-Clause)']);

/** Elastic License 2.0 allows this use: it forbids offering the software itself to others as a managed service. */
const elastic = ['@apollo/composition', '@apollo/federation-internals', '@apollo/gateway', '@apollo/query-graphs', '@apollo/query-planner'];

describe('packages', () => {
  test('every version in package.json is exact', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = packageJson;
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides });
    assert.ok(versions.length > 30, `saw only ${versions.length} packages`);
    assert.deepEqual(
      versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
      [],
    );
  });

  test('the lock file has a digest and no address for every package, so that any registry serves it', () => {
    assert.ok(locked.length > 300, `saw only ${locked.length} packages`);
    assert.deepEqual(
      locked.filter(([, { resolved, integrity }]) => resolved !== undefined || !integrity?.startsWith('sha512-')),
      [],
    );
  });

  test('every package of an installation has a licence from the list', (t) => {
    const production = locked.filter(([, { dev }]) => !dev);
    t.diagnostic(`${production.length} packages`);
    assert.ok(production.length > 200, `saw only ${production.length} packages`);
    const named = production.map(([path, { license }]) => ({ name: path.split('node_modules/').at(-1) ?? path, license: license ?? 'none' }));
    const others = named.filter(({ license }) => !permissive.has(license));
    assert.deepEqual(
      others,
      elastic.map((name) => ({ name, license: 'Elastic-2.0' })),
    );
  });

  test('every production package is imported by something other than a test', () => {
    const edges = typescriptFiles().flatMap((path) => edgesOf(path, readText(path)));
    const used = new Set(edges.filter(({ from }) => !from.startsWith('test/')).map(({ to }) => to));
    assert.deepEqual(
      Object.keys(packageJson.dependencies).filter((name) => !used.has(name)),
      [],
    );
  });
});
