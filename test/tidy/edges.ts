/**
 * Who imports what: every import, re-export, dynamic import and `import('...')` type of a
 * TypeScript text.
 */
import { posix } from 'node:path';
import { Visitor, parseSync, type Expression, type StringLiteral } from 'oxc-parser';

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

const edgeTo = (
  from: string,
  specifier: string,
  typeOnly: boolean,
  names: readonly string[],
): Edge => {
  const ours = specifier.startsWith('.');
  return {
    from,
    to: ours ? posix.join(posix.dirname(from), specifier) : packageOf(specifier),
    ours,
    typeOnly,
    names,
  };
};

const textOf = (path: string, source: Expression | StringLiteral): string => {
  if (source.type === 'Literal' && typeof source.value === 'string') return source.value;
  throw new Error(`${path} imports what is only known when it runs: it cannot be checked`);
};

/**
 * The edges of one file. Throws when the text cannot be parsed, or when a dynamic import does not
 * name its module as a literal.
 */
export const edgesOf = (path: string, text: string): readonly Edge[] => {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0)
    throw new Error(`${path} cannot be parsed: ${errors.map(({ message }) => message).join('; ')}`);
  const edges: Edge[] = [];
  new Visitor({
    ImportDeclaration({ source, importKind, specifiers }) {
      const all =
        specifiers.length > 0 &&
        specifiers.every(
          (specifier) => specifier.type === 'ImportSpecifier' && specifier.importKind === 'type',
        );
      const names = specifiers.flatMap((specifier) =>
        specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier'
          ? [specifier.imported.name]
          : [],
      );
      edges.push(
        edgeTo(
          path,
          source.value,
          importKind === 'type' || all,
          names.length === specifiers.length ? names : [],
        ),
      );
    },
    ExportNamedDeclaration({ source, exportKind }) {
      if (source) edges.push(edgeTo(path, source.value, exportKind === 'type', []));
    },
    ExportAllDeclaration({ source, exportKind }) {
      edges.push(edgeTo(path, source.value, exportKind === 'type', []));
    },
    ImportExpression({ source }) {
      edges.push(edgeTo(path, textOf(path, source), false, []));
    },
    TSImportType({ source }) {
      edges.push(edgeTo(path, textOf(path, source), true, []));
    },
  }).visit(program);
  return edges;
};
