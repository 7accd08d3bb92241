/** How the tables are distributed: `platform/fleet/distribute.sql`, as the tests read it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../../subgraphs/platform/fleet/distribute.sql');

/** The file's statements, in their order, without comments. */
export const distributingStatements = (): readonly string[] =>
  readFileSync(file, 'utf8')
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');

const calls = (name: string): readonly (readonly [string, string])[] =>
  distributingStatements().flatMap((text) => {
    const [, table, column = ''] =
      new RegExp(String.raw`^select ${name}\('(\w+)'(?:, '(\w+)')?`).exec(text) ?? [];
    return table === undefined ? [] : [[table, column] as const];
  });

/** Each distributed table with the column that names the merchant. */
export const distributed: ReadonlyMap<string, string> = new Map(calls('create_distributed_table'));

/** Tables of which each machine has a copy. */
export const copied: ReadonlySet<string> = new Set(
  calls('create_reference_table').map(([table]) => table),
);
