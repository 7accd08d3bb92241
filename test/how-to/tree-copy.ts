/** A copy of this tree, in which files are changed and checks are run. */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectFiles, root } from '../tidy/tree.ts';
import { compiled } from '../support/compile.ts';
import type { Check } from './walk.ts';

export interface Ran {
  readonly passed: boolean;
  readonly output: string;
}

export interface TreeCopy {
  /** Writes a file; '' removes it. */
  write(path: string, text: string): void;
  /** Runs this same Node in the copy. */
  run(check: Check): Promise<Ran>;
  remove(): void;
}

/** Links the packages one by one: what is kept of this tree beside them is the copy's own. */
const linkPackages = (folder: string): void => {
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, '.cache'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(packages, name));
  // What the compiler knows of this tree holds for the files that the copy does not change.
  if (existsSync(join(root, compiled))) copyFileSync(join(root, compiled), join(folder, compiled));
};

/** Copies every file of the project; the packages are shared. */
export const copyTree = (): TreeCopy => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-copy-'));
  for (const path of projectFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  linkPackages(folder);
  // Inside a test run the first variable would report to it; the migrated database of the run has
  // the migrations of this tree, not of the copy.
  const { NODE_TEST_CONTEXT: _, TEST_POSTGRES_TEMPLATE: __, ...inherited } = process.env;
  const compileCache = join(folder, 'node_modules/.cache/compiled');
  const env = { ...inherited, NODE_COMPILE_CACHE: compileCache };
  return {
    write: (path, text) => {
      const at = join(folder, path);
      if (text === '') return rmSync(at, { force: true });
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, text);
    },
    run: async (check) => {
      const child = spawn(process.execPath, check, {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      const { promise, resolve, reject } = Promise.withResolvers<number | null>();
      child.on('error', reject).on('close', resolve);
      return { passed: (await promise) === 0, output };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
