/** The project's own files, as the checks see them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that hold nothing of ours: packages, history, and what a run leaves behind. */
const foreign = (path: string): boolean =>
  /(^|\/)(node_modules|\.git|\.data[^/]*)$|^console\/dist/.test(path) ||
  ['test/browser/screenshots', 'sdk/dist'].includes(path);

export const root = join(import.meta.dirname, '../..');

const walk = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (foreign(path)) return [];
    return entry.isDirectory() ? walk(path) : [path];
  });

/** Every file of the project, by its path from the root, with slashes. */
export const projectFiles = (): readonly string[] => walk('').toSorted();

/** The TypeScript among them. */
export const typescriptFiles = (): readonly string[] =>
  projectFiles().filter((path) => /\.tsx?$/.test(path));

/** Whether a file is written by schema/build.ts or by npm. */
export const isGenerated = (path: string): boolean =>
  path.startsWith('schema/generated/') ||
  path.startsWith('sdk/src/generated/') ||
  ['schema/supergraph.graphql', 'package-lock.json'].includes(path);

/** The text of a file, by its path from the root. */
export const readText = (path: string): string => readFileSync(join(root, path), 'utf8');
