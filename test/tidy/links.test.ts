/** Links and paths in guides and comments lead somewhere. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { isGenerated, projectFiles, readText, typescriptFiles } from './tree.ts';

const files = projectFiles();
const guides = files.filter((path) => path.endsWith('.md'));

/** `a/{b,c}` as `a/b` and `a/c`. */
const alternatives = (path: string): readonly string[] => {
  const [, before = '', inside = '', behind = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return inside === '' ? [path] : inside.split(',').map((one) => `${before}${one}${behind}`);
};

/** Written by a build, so that a clean tree does not have it. */
const built: ReadonlySet<string> = new Set(['console/dist', 'sdk/dist']);

/** Every end of a file's path, with and without `.ts`, and every run of folders within it. */
const known: ReadonlySet<string> = new Set(
  files.flatMap((file) => {
    const parts = file.split('/');
    const ends = parts.map((_, from) => parts.slice(from).join('/'));
    const folders = parts.flatMap((_, from) =>
      parts.slice(from, -1).map((__, length) => parts.slice(from, from + length + 1).join('/')),
    );
    return [...ends, ...ends.map((end) => end.replace(/\.ts$/, '')), ...folders];
  }),
);

/** Names of folders. */
const folders: ReadonlySet<string> = new Set(files.flatMap((file) => file.split('/').slice(0, -1)));

/**
 * Paths in backticks that lead nowhere, of those that begin in a folder of the project. Folders
 * before them may be missing, and the ending of a TypeScript file.
 */
const deadPaths = (text: string): readonly string[] =>
  [...text.matchAll(/`([a-z][\w-]*\/[\w./{},-]*)`/g)]
    .flatMap(([, path = '']) => alternatives(path.replace(/\/$/, '')))
    .filter((path) => folders.has(path.split('/')[0] ?? '') && !built.has(path))
    .filter((path) => !known.has(path));

/** Files that the comments of a TypeScript text name, by their ending or a path, and that do not exist. */
const deadNames = (path: string, text: string): readonly string[] =>
  parseSync(path, text).comments.flatMap(({ value }) => [
    ...(value.match(/(?<![\w*$}])[\w@-][\w./@-]*\.(?:tsx?|mjs|md|sql)\b/g) ?? []).filter(
      (name) => !known.has(name),
    ),
    ...deadPaths(value),
  ]);

/** The anchor of a heading, as GitHub and the guides' pages make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Whether the text of a guide has a heading with this anchor. */
const hasAnchor = (guide: string, anchor: string): boolean =>
  [...guide.matchAll(/^#+ (.+)$/gm)].some(([, text = '']) => anchorOf(text) === anchor);

/**
 * Links of a guide to files, folders or headings that do not exist. Links to `/docs` are pages that
 * the service itself serves.
 */
const deadLinks = (path: string, text: string): readonly string[] =>
  [...text.matchAll(/\]\((?!https?:|\/docs\/)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
    ([, link = '', anchor]) => {
      const target = link === '' ? path : posix.join(posix.dirname(path), link);
      const leads = files.some((file) => file === target || file.startsWith(`${target}/`));
      const leadsToHeading = anchor === undefined || hasAnchor(readText(target), anchor);
      return leads && leadsToHeading ? [] : [`${link}#${anchor ?? ''}`];
    },
  );

/** Sections of documents that the comments of a file name and that do not exist. */
const deadSections = (text: string): readonly string[] =>
  [...text.matchAll(/\b(docs\/[\w-]+\.md)(?:#([\w-]+))?/g)].flatMap(
    ([link, path = '', anchor = '']) => {
      const leads = files.includes(path) && (anchor === '' || hasAnchor(readText(path), anchor));
      return leads ? [] : [link];
    },
  );

describe('links', () => {
  const faultsOf = (
    paths: readonly string[],
    dead: (path: string, text: string) => readonly string[],
  ): readonly string[] =>
    paths.flatMap((path) => dead(path, readText(path)).map((fault) => `${path}: ${fault}`));

  test('every link from a guide leads to a file, and to a heading that is there', (t) => {
    t.diagnostic(`${guides.length} guides`);
    assert.ok(guides.length > 5, `saw only ${guides.length} guides`);
    assert.deepEqual(faultsOf(guides, deadLinks), []);
  });

  test('every path in backticks leads to a file or a folder', () =>
    assert.deepEqual(
      faultsOf(guides, (_, text) => deadPaths(text)),
      [],
    ));

  test('every file that a comment names exists', (t) => {
    // A migration that has run is never changed, whatever it names.
    const texts = typescriptFiles().filter(
      (path) => !isGenerated(path) && !path.startsWith('subgraphs/platform/database/migrations/'),
    );
    t.diagnostic(`${texts.length} files`);
    assert.ok(texts.length > 500, `saw only ${texts.length} files`);
    assert.deepEqual(faultsOf(texts, deadNames), []);
  });

  test('every section of a document that code names exists', () => {
    const code = files.filter(
      (path) => /\.(?:ts|tsx|sql|mjs|graphql|yaml)$/.test(path) && !isGenerated(path),
    );
    assert.deepEqual(
      faultsOf(code, (_, text) => deadSections(text)),
      [],
    );
  });
});
