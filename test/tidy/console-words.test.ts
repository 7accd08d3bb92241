/** Every text of the console is one that it shows. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { keysOf, unusedKeys } from './console-words.ts';
import { projectFiles, readText } from './tree.ts';

const words = 'console/src/words/';
/** Its keys are the actions of the audit log, which a test of their own holds to the program. */
const byAction = `${words}audit-actions.ts`;
const sources = projectFiles().filter((path) => /^console\/src\/.*\.tsx?$/.test(path));

describe('the texts of the console', () => {
  test('are all used', (t) => {
    const programs = sources.filter((path) => !path.startsWith(words));
    const text = programs.map(readText).join('\n');
    const seen = sources
      .filter((path) => path.startsWith(words) && path !== byAction)
      .map((path) => ({ path, keys: keysOf(path, readText(path)) }));
    const count = seen.reduce((sum, { keys }) => sum + keys.length, 0);
    t.diagnostic(`${count} keys, ${programs.length} programs`);
    assert.ok(count > 500 && programs.length > 50, `saw only ${count} keys`);
    assert.deepEqual(
      seen.flatMap(({ path, keys }) => unusedKeys(keys, text).map((name) => `${path}: ${name}`)),
      [],
    );
  });
});
