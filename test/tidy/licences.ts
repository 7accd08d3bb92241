/**
 * The packages of an installation and their licences, as SECURITY.md lists them: `node
 * test/tidy/licences.ts` writes the list anew. Those that the service names itself stand with their
 * versions, those behind them are counted.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { LockedPackages } from './lock.ts';
import { readText, root } from './tree.ts';

const begin = '<!-- packages: written by test/tidy/licences.ts -->\n';
const end = '<!-- end of packages -->\n';

/** The list, in Markdown. */
const listPackages = (): string => {
  const { packages }: { packages: LockedPackages } = JSON.parse(readText('package-lock.json'));
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  const ofConsole = Object.entries(packageJson.optionalDependencies).filter(
    ([name]) => !name.startsWith('node-'),
  );
  const named = [...Object.entries(packageJson.dependencies), ...ofConsole].map(
    ([name, version]) =>
      `| ${name} | ${version} | ${packages[`node_modules/${name}`]?.license ?? 'none'} |`,
  );
  const counts = Map.groupBy(installed, ([, { license }]) => license ?? 'none');
  const counted = [...counts]
    .map(([licence, those]) => ({ licence, count: those.length }))
    .toSorted((a, b) => b.count - a.count || (a.licence < b.licence ? -1 : 1));
  const sums = counted.map(({ licence, count }) => `${licence} ${count}`).join(', ');
  return [
    '| package | version | licence |',
    '|---|---|---|',
    ...named,
    '',
    `With those behind them ${installed.length} packages: ${sums}.`,
    '',
  ].join('\n');
};

/** SECURITY.md with the list as it should be. */
export const withPackages = (text: string): string => {
  const [before, rest] = text.split(begin);
  const [, behind] = (rest ?? '').split(end);
  if (before === undefined || behind === undefined)
    throw new Error('SECURITY.md has no place for the list of packages');
  return `${before}${begin}\n${listPackages()}\n${end}${behind}`;
};

if (import.meta.main)
  writeFileSync(join(root, 'SECURITY.md'), withPackages(readText('SECURITY.md')));
