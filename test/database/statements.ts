/**
 * Every statement of the program, as PostgreSQL gets it: the objects with a name and a text that
 * `platform/database/statement` runs. This module changes each file of the program while it is
 * loaded, so that every such object is kept when it is made. Import it before all else.
 */
import { globSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');

export interface Seen {
  readonly name: string;
  readonly text: string;
  /** The file, and the line of the object in it. */
  readonly site: string;
}

const seen = new Map<string, Seen>();
const sites = new Set<string>();
const makers = new Set<string>();

const keep = (made: { readonly name: string; readonly text: unknown }, site: string): object => {
  const { name, text } = made;
  if (typeof text === 'string') seen.set(`${site} ${text}`, { name, text, site });
  // What makes a text is no statement: what is made with it is one, elsewhere.
  if (typeof text === 'function') makers.add(site);
  return made;
};
Object.assign(globalThis, { keepStatement: keep });

const isNode = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const keysOf = (properties: unknown): readonly unknown[] =>
  Array.isArray(properties)
    ? properties.map((property: unknown) =>
        isNode(property) && isNode(property['key']) ? property['key']['name'] : undefined,
      )
    : [];

/** Where the objects with a name and a text begin and end. */
const objectsIn = (node: unknown, found: [number, number][]): [number, number][] => {
  if (Array.isArray(node)) {
    for (const one of node) objectsIn(one, found);
  } else if (isNode(node)) {
    const keys = node['type'] === 'ObjectExpression' ? keysOf(node['properties']) : [];
    if (keys.includes('name') && keys.includes('text'))
      found.push([Number(node['start']), Number(node['end'])]);
    for (const value of Object.values(node)) objectsIn(value, found);
  }
  return found;
};

const watched = (file: string, source: string): string => {
  let text = source;
  const objects = objectsIn(parseSync(file, source).program, []);
  // From the last to the first, so that the positions stay true.
  for (const [start, end] of objects.toSorted(([one], [other]) => other - one)) {
    const site = `${relative(root, file)}:${source.slice(0, start).split('\n').length}`;
    sites.add(site);
    text = `${text.slice(0, start)}globalThis.keepStatement(${text.slice(start, end)}, '${site}')${text.slice(end)}`;
  }
  return text;
};

const load = createRequire(import.meta.url);
const program = pathToFileURL(`${join(root, 'subgraphs')}/`).href;

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(program) || !loaded.source) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString('utf8');
    return { ...loaded, source: watched(fileURLToPath(url), source) };
  },
});

/** Loads the whole program, and with it what is made when a file is loaded. */
export const loadProgram = (): void => {
  const files = globSync('subgraphs/**/*.ts', { cwd: root, exclude: ['**/migrations/**'] });
  for (const file of files) load(join(root, file));
};

/** What was made so far, and the places in the program at which nothing was made yet. */
export const statementsSeen = (): {
  readonly statements: readonly Seen[];
  readonly unseen: readonly string[];
} => {
  const statements = [...seen.values()];
  const reached = new Set([...statements.map(({ site }) => site), ...makers]);
  return { statements, unseen: [...sites].filter((site) => !reached.has(site)) };
};
