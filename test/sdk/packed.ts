/** The package as npm makes it, installed in a folder as a shop has it. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../sdk/package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Packs a copy of the SDK: packing builds `sdk/dist` anew, which other processes may do as well. */
const pack = async (): Promise<string> => {
  const copy = mkdtempSync(join(tmpdir(), 'payments-pack-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const name of [
    'setup.mjs',
    'tsconfig.json',
    ...['package.json', 'tsconfig.json', 'README.md', 'src'].map((part) => `sdk/${part}`),
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const packing = ['pack', '--silent', '--pack-destination', copy, join(copy, 'sdk')];
  const { stdout } = await run('npm', packing, { cwd: copy });
  return join(copy, stdout.trim().split('\n').at(-1) ?? '');
};

let packed: Promise<string> | null = null;

/** Unpacks the packed SDK as a dependency of a new folder. */
export const installPackage = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-sdk-'));
  const tarball = await (packed ??= pack());
  const installed = join(folder, 'node_modules', manifest.name);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  mkdirSync(join(folder, 'node_modules/@types'));
  for (const name of ['@types/node', 'undici-types'])
    if (existsSync(join(root, 'node_modules', name)))
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return { folder, tarball, installed };
};

/** Writes a program of this folder as JavaScript that takes the package by its name. */
export const writeProgram = (folder: string, name: string): string => {
  const source = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8');
  const path = join(folder, `${name}.mjs`);
  const text = stripTypeScriptTypes(source);
  writeFileSync(path, text.replaceAll('../../sdk/src/index.ts', manifest.name));
  return path;
};

/** A Node 20 of this machine: the oldest that the package runs on. Null when there is none. */
export const findNode20 = async (): Promise<string | null> => {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const found = [...folders, '/usr/bin', '/usr/local/bin']
    .map((folder) => join(folder, 'node'))
    .filter(existsSync)
    .map((path) => realpathSync(path));
  for (const path of new Set(found)) {
    const { stdout } = await run(path, ['--version']).catch(() => ({ stdout: '' }));
    if (stdout.startsWith('v20.')) return path;
  }
  return null;
};

/** Runs a program and gives what it printed; rejects with all of it when it failed. */
export const runNode = async (
  node: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> => {
  const { stdout } = await run(node, args, { cwd, env: { ...process.env, ...env } }).catch(
    (error: Error & { stdout?: string; stderr?: string }) =>
      Promise.reject(new Error(`${error.message}\n${error.stdout ?? ''}`)),
  );
  return stdout;
};
