/**
 * Runs test files one after the other in this process: they share its imports, its browser and its
 * composed graph, which cost more than most files do. Each file is a suite of its own, so its hooks
 * are of this file alone. Several processes take from one list, so that all end together.
 */
import { mkdirSync } from 'node:fs';
import { relative, join } from 'node:path';
import { after, before, describe } from 'node:test';
import { cpuUntilNow, keepBrowsersCost, keepCost } from './file-cost.ts';
import { closeShared } from './shared.ts';
import { size } from './size.ts';

const root = join(import.meta.dirname, '../..');
const file_max_min = size(20, 60);

// A file that does not end (a socket left open, a promise that never settles) is a failure that
// names itself.
let running = 'no file';
let overdue: NodeJS.Timeout | undefined;

const begin = (file: string): void => {
  running = file;
  clearTimeout(overdue);
  overdue = setTimeout(() => {
    process.stderr.write(`${running} still runs after ${file_max_min} minutes: it is ended\n`);
    process.exit(1);
  }, file_max_min * 60_000).unref();
};

process.once('SIGTERM', () => process.exit(143));
process.once('exit', keepBrowsersCost);
// Each server that a file starts ends with the process, and a group has many files.
process.setMaxListeners(0);

/** Whether no other process has begun this file: a folder is made once, and `undefined` after that. */
const claim = (folder: string, file: string): boolean =>
  mkdirSync(join(folder, encodeURIComponent(relative(root, file))), { recursive: true }) !==
  undefined;

/**
 * Runs these files, each by its absolute path and what imports it; those that another process began
 * are left to it.
 */
export const runGroup = async (
  folder: string,
  files: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> => {
  for (const [file, load] of Object.entries(files)) {
    if (!claim(folder, file)) continue;
    await describe(relative(root, file), async () => {
      let began_ms = 0;
      let began_s = 0;
      before(() => {
        begin(file);
        began_ms = performance.now();
        began_s = cpuUntilNow();
      });
      await load();
      after(() =>
        keepCost({ file, took_ms: performance.now() - began_ms, cpu_s: cpuUntilNow() - began_s }),
      );
    });
  }
  after(closeShared);
};
