import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { isGenerated, projectFiles, readText } from './tree.ts';
import { deadLinks, emptyNames, textFaults, typescriptFaults } from './words.ts';

/** A file is about this long; tests, styles and a language's texts may be longer. */
const file_max_lines = 300;
const list_max_lines = 420;
const isList = (path: string): boolean =>
  path.endsWith('.css') ||
  /^(?:test|rest-facade\/checkout\/words|console\/src\/words)\//.test(path);

/**
 * Files that may be longer: each is one exhaustive table, one document, or a migration, which is
 * never changed once it has run.
 */
const isExhaustive = (path: string): boolean =>
  path.startsWith('subgraphs/kernel/database/migrations/') ||
  /^schema\/\w+\.graphql$/.test(path) ||
  exhaustive.has(path);
const exhaustive = new Set([
  // The dated decisions and the runbooks, one for each alert.
  'ARCHITECTURE.md',
  'subgraphs/kernel/fleet/OPERATIONS.md',
  'schema/openapi.yaml',
  'rest-facade/routes.ts',
  'subgraphs/kernel/observability/dashboard.json',
]);

/** Texts of ours: all but what is generated and what is not text. */
const texts = projectFiles().filter(
  (path) => !isGenerated(path) && !/\.(png|ico|woff2?|svg)$/.test(path),
);
/** The checks name what they look for; they are held to the rest. */
const isCheck = (path: string): boolean => path.startsWith('test/tidy/words');

describe('words', () => {
  test('no file or folder has a name that says nothing', () => {
    const files = projectFiles();
    assert.ok(files.length > 50, `saw only ${files.length} files`);
    assert.deepEqual(
      files.filter((path) => emptyNames(path).length > 0),
      [],
    );
  });

  test('no mark of unfinished work and no place on a machine stands in a text', (t) => {
    t.diagnostic(`${texts.length} texts`);
    const faults = texts
      .filter((path) => !isCheck(path))
      .flatMap((path) => textFaults(readText(path)).map((fault) => `${path} ${fault}`));
    assert.deepEqual(faults, []);
  });

  test('every link from a guide to a file leads somewhere', (t) => {
    const files = projectFiles();
    const guides = texts.filter((path) => path.endsWith('.md'));
    t.diagnostic(`${guides.length} guides`);
    assert.ok(guides.length > 5, `saw only ${guides.length} guides`);
    const faults = guides.flatMap((path) =>
      deadLinks(path, readText(path), files).map((link) => `${path} ${link}`),
    );
    assert.deepEqual(faults, []);
  });

  test('every decision that is named is written down, and every one that is written down is named', (t) => {
    const decisions = 'schema/DECISIONS.md';
    const written = new Set(
      [...readText(decisions).matchAll(/^\| (D-\d{2,3}[a-z]?) /gm)].map(([, id = '']) => id),
    );
    const named = new Set(
      texts
        .filter((path) => path !== decisions)
        .flatMap((path) => readText(path).match(/\bD-\d{2,3}[a-z]?\b/g) ?? []),
    );
    t.diagnostic(`${written.size} decisions`);
    assert.ok(written.size > 50, `saw only ${written.size} decisions`);
    assert.deepEqual([...named].toSorted(), [...written].toSorted());
  });

  test('no waiver, no empty type name and no test that does not run stands in code', (t) => {
    const files = texts.filter((path) => /\.(ts|mjs|js)$/.test(path));
    t.diagnostic(`${files.length} files`);
    assert.ok(files.length > 30, `saw only ${files.length} files`);
    const faults = files
      .filter((path) => !isCheck(path))
      .flatMap((path) => typescriptFaults(path, readText(path)).map((fault) => `${path} ${fault}`));
    assert.deepEqual(faults, []);
  });

  test(`no file is longer than ${file_max_lines} lines, lists than ${list_max_lines}, exhaustive tables apart`, () => {
    const long = texts.filter(
      (path) =>
        readText(path).split('\n').length - 1 > (isList(path) ? list_max_lines : file_max_lines),
    );
    assert.deepEqual(
      long.filter((path) => !isExhaustive(path)),
      [],
    );
    assert.deepEqual(
      [...exhaustive].filter((path) => !long.includes(path)),
      [],
      'no longer an exception',
    );
  });
});

describe('the word checks catch', () => {
  for (const path of [
    'subgraphs/utils/a.ts',
    'gateway/http-helpers.ts',
    'lib/x.ts',
    'subgraphs/kernel/common.ts',
    'test/misc/a.test.ts',
  ]) {
    test(`the name ${path}`, () => assert.notDeepEqual(emptyNames(path), []));
  }
  for (const text of [
    '// TODO: later',
    'a\n# FIXME',
    "path = '/work/main'",
    'cat /root/.config',
    'see /home/someone/x',
    String.raw`C:\Users\x`,
  ]) {
    test(`the text ${JSON.stringify(text)}`, () => assert.notDeepEqual(textFaults(text), []));
  }
  for (const text of [
    'class PaymentService {}',
    'export interface QueueManager {}',
    'type OrderHandler = () => void;',
    'class StoreImpl {}',
    '// oxlint-disable-next-line\nconst a = 1;',
    '/* @ts-ignore */ const a = 1;',
    "test.only('a', () => {});",
    "describe.skip('a', () => {});",
    "test('a', (t) => { t.skip(); });",
    "test('a', { skip: true }, () => {});",
    "test('a', { skip: 'later' }, () => {});",
    "test.todo('a');",
  ]) {
    test(`the code ${JSON.stringify(text)}`, () =>
      assert.notDeepEqual(typescriptFaults('a.test.ts', text), []));
  }
  for (const text of [
    "test('a', { skip: !redis }, () => {});",
    "test('a', (t) => { if (!redis) t.skip('no redis'); });",
    'class ServiceArea {}',
    'rows.skip(1);',
  ]) {
    test(`nothing in ${JSON.stringify(text)}`, () =>
      assert.deepEqual(typescriptFaults('a.test.ts', text), []));
  }
  test('a link that leads nowhere, and none that leads to a file or away', () => {
    const text =
      'see [a](b/c.md), [d](../d.md#part), [e](gone.md), [f](#here), [g](https://example.com/x.md)';
    assert.deepEqual(deadLinks('guides/x.md', text, ['guides/b/c.md', 'd.md']), ['gone.md']);
  });
  test('nothing in an address that only looks like a place', () => {
    assert.deepEqual(
      textFaults('COPY --from=build /home/node/app /app\nhttps://example.com/work/x'),
      [],
    );
  });
});
