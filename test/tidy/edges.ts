/** Who imports what: the imports, re-exports and dynamic imports of a TypeScript text. */
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { readText, typescriptFiles } from './tree.ts';

export interface Edge {
  /** The importing file, by its path from the root. */
  readonly from: string;
  /**
   * A path from the root for a file of ours, else a package's name (`pg`, `@apollo/gateway`,
   * `node:fs`).
   */
  readonly to: string;
  readonly ours: boolean;
  /** Erased before it runs. */
  readonly typeOnly: boolean;
  /** What is taken by name; empty for everything at once. */
  readonly names: readonly string[];
}

const packageOf = (specifier: string): string => {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
};

/**
 * The edges of one file. Throws when the text cannot be parsed, or when a dynamic import does not
 * name its module as a literal. The linter refuses the form `import('...')` of a type.
 */
const edgesOf = (path: string, text: string): readonly Edge[] => {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0)
    throw new Error(`${path} cannot be parsed: ${errors.map(({ message }) => message).join('; ')}`);
  const edgeTo = (specifier: string, typeOnly: boolean, names: readonly string[] = []): Edge => {
    const ours = specifier.startsWith('.');
    const to = ours ? posix.join(posix.dirname(path), specifier) : packageOf(specifier);
    return { from: path, to, ours, typeOnly, names };
  };
  const imports = module.staticImports.map(({ moduleRequest, entries }) => {
    const names = entries.flatMap(({ importName }) => importName.name ?? []);
    return edgeTo(
      moduleRequest.value,
      entries.length > 0 && entries.every(({ isType }) => isType),
      names.length === entries.length ? names : [],
    );
  });
  const exports = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) =>
      moduleRequest ? edgeTo(moduleRequest.value, isType) : [],
    );
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => {
    const [, specifier] = /^'([^']+)'$/.exec(text.slice(start, end)) ?? [];
    if (specifier === undefined)
      throw new Error(`${path} imports what is only known when it runs: it cannot be checked`);
    return edgeTo(specifier, false);
  });
  return [...imports, ...exports, ...dynamic];
};

/** What each TypeScript file of the project imports. They are read once for all tests. */
export const importsOf: ReadonlyMap<string, readonly Edge[]> = new Map(
  typescriptFiles().map((path) => [path, edgesOf(path, readText(path))]),
);
