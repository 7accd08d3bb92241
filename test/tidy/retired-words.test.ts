/** No retired word comes back as a name, or in a comment. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { retiredIn } from './retired-words.ts';
import { isGenerated, readText, typescriptFiles } from './tree.ts';

/** The check names what it looks for; a migration is never changed. */
const isApart = (path: string): boolean =>
  path.startsWith('test/tidy/retired-words') || path.includes('/migrations/');

test('no name and no comment has a word of the former dialect', (t) => {
  const files = typescriptFiles().filter((path) => !isGenerated(path) && !isApart(path));
  t.diagnostic(`${files.length} files`);
  assert.ok(files.length > 100, `saw only ${files.length} files`);
  assert.deepEqual(
    files.flatMap((path) => retiredIn(path, readText(path)).map((fault) => `${path} ${fault}`)),
    [],
  );
});

describe('the check of retired words catches', () => {
  for (const text of [
    'const bell = 1;',
    'export interface Ear { listeners: number }',
    'const at = { toldAt_ms: 0 };',
    'class A { #heardAt = 0; tellAll() {} }',
    '// The relay tells the bus.',
    '/** It rang when a call came. */ const a = 1;',
    'const untold = (errands: number) => errands;',
  ])
    test(text, () => assert.notDeepEqual(retiredIn('a.ts', text), []));
  for (const text of [
    "const a = 'the bell told nobody';",
    'const bearing = string.substring(1);',
    '// Early years appear near.',
  ])
    test(`nothing in ${text}`, () => assert.deepEqual(retiredIn('a.ts', text), []));
});
