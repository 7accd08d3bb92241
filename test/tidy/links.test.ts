/** Links and paths in guides and comments lead somewhere. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { isGenerated, projectFiles, readText, typescriptFiles } from './tree.ts';

const files = projectFiles();
const guides = files.filter((path) => path.endsWith('.md'));

/**
 * Links of a Markdown text to files or folders beside it that are not among `files`, all of them
 * paths from the root. Links to `/docs` are pages that the service itself serves.
 */
const deadLinks = (path: string, text: string, files: readonly string[]): readonly string[] =>
  [...text.matchAll(/\]\((?!#|https?:|\/docs\/)([^)#\s]+)(?:#[^)]*)?\)/g)].flatMap(
    ([, link = '']) => {
      const target = posix.join(posix.dirname(path), link);
      const leads = files.some((file) => file === target || file.startsWith(`${target}/`));
      return leads ? [] : [link];
    },
  );

/** Folders in which a path of a guide begins, and in which it is looked for. */
const begins =
  /^(rules|platform|ledger|acquirers|payments|payouts|recurring|merchants|gateway|rest-facade|schema|subgraphs|test)$/;

/** `a/{b,c}` as `a/b` and `a/c`. */
const alternatives = (path: string): readonly string[] => {
  const [, before = '', inside = '', behind = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return inside === '' ? [path] : inside.split(',').map((one) => `${before}${one}${behind}`);
};

/**
 * Paths in backticks that lead nowhere. A path is written from the root, or without `subgraphs/`;
 * the ending of a TypeScript file may be missing.
 */
const deadPaths = (text: string, files: readonly string[]): readonly string[] => {
  const leads = (path: string): boolean =>
    [path, `subgraphs/${path}`].some((from) =>
      files.some((file) => file === from || file === `${from}.ts` || file.startsWith(`${from}/`)),
    );
  return [...text.matchAll(/`([a-z][\w-]*\/[\w./{},-]*)`/g)]
    .map(([, path = '']) => path.replace(/\/$/, ''))
    .filter((path) => begins.test(path.split('/')[0] ?? ''))
    .filter((path) => !alternatives(path).every(leads));
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
 * Files that the comments of a TypeScript text name and that do not exist: by their ending, or in
 * backticks by a path that begins in a folder of the project. Folders before it may be missing.
 */
const deadNames = (path: string, text: string): readonly string[] => {
  const comments = parseSync(path, text).comments.map(({ value }) => value);
  const byEnding = comments.flatMap(
    (comment) => comment.match(/(?<![\w*$}])[\w@-][\w./@-]*\.(?:tsx?|mjs|md|sql)\b/g) ?? [],
  );
  const inBackticks = comments
    .flatMap((comment) => [...comment.matchAll(/`([a-z][\w-]*\/[\w./-]*)`/g)])
    .map(([, name = '']) => name.replace(/\/$/, ''))
    .filter((name) => folders.has(name.split('/')[0] ?? '') && !built.has(name));
  return [...byEnding, ...inBackticks].filter((name) => !known.has(name));
};

/** The anchor of a heading, as GitHub and the guides' pages make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Whether the text of a guide has a heading with this anchor. */
const hasAnchor = (guide: string, anchor: string): boolean =>
  [...guide.matchAll(/^#+ (.+)$/gm)].some(([, text = '']) => anchorOf(text) === anchor);

/** Links of a guide to sections that do not exist; `read` gives the text of a guide. */
const deadAnchors = (path: string, read: (path: string) => string): readonly string[] => {
  const links = read(path).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g);
  return [...links].flatMap(([, link = '', anchor = '']) => {
    const guide = link === '' ? path : posix.join(posix.dirname(path), link);
    return hasAnchor(read(guide), anchor) ? [] : [`${link}#${anchor}`];
  });
};

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
    assert.deepEqual(
      faultsOf(guides, (path, text) => deadLinks(path, text, files)),
      [],
    );
    assert.deepEqual(
      faultsOf(guides, (path) => deadAnchors(path, readText)),
      [],
    );
  });

  test('every path in backticks leads to a file or a folder', () =>
    assert.deepEqual(
      faultsOf(guides, (_, text) => deadPaths(text, files)),
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
