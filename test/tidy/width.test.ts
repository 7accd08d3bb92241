/** Code and comments keep to the formatter's width. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { isGenerated, projectFiles, readText } from './tree.ts';
import { columns_max, wideLines } from './width.ts';

describe('width', () => {
  test(`no line of code or of a comment that can be broken passes ${columns_max} columns`, (t) => {
    const files = projectFiles().filter(
      (path) => /\.(ts|mjs|js)$/.test(path) && !isGenerated(path),
    );
    t.diagnostic(`${files.length} files`);
    assert.ok(files.length > 500, `saw only ${files.length} files`);
    const faults = files.flatMap((path) =>
      wideLines(path, readText(path)).map((line) => `${path}:${line}`),
    );
    assert.deepEqual(faults, []);
  });
});

describe('the width check', () => {
  const long = 'x'.repeat(columns_max);
  for (const text of [
    `// ${'word '.repeat(25)}`,
    `/**\n * ${'word '.repeat(25)}\n */`,
    `const ${long} = 1;`,
    `const a = '${'x'.repeat(60)}'; // ${'word '.repeat(10)}`,
    `const a = [${'1, '.repeat(40)}];`,
    `test('a', () => { b(); ${'c(); '.repeat(20)} });`,
    `run('a', async (${'b, '.repeat(40)}) => {});`,
  ])
    test(`finds ${text.slice(0, 30)}...`, () =>
      assert.equal(wideLines('a.ts', text).length, 1, text));
  for (const text of [
    `const a = '${long}';`,
    `const a = \`${long}\`;`,
    `const a = \`\n${long} \${1} ${long}\n\`;`,
    `const a = /${long}/;`,
    `import a from './${long}.ts';`,
    `type A = '${long}';`,
    `const a = \`\${${long} + 1}\`;`,
    `const a = '${'x'.repeat(columns_max - 12)}';`,
    `test('${'x'.repeat(columns_max - 9)}', async () => {\n});`,
    `// see https://example.com/${long}`,
  ])
    test(`passes ${text.slice(0, 30)}...`, () => assert.deepEqual(wideLines('a.ts', text), []));
});
