/**
 * A list whose later item fails at once, and whose earlier one fails after that: the answer is
 * there, and the process lives.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const program = (guard: string, work: string): string => `
  import { buildSchema, graphql } from 'graphql';
  import { outliveForsakenFields } from './subgraphs/platform/graph/present-errors.ts';
  ${guard}
  const later = () => new Promise((_, reject) => setTimeout(() => reject(new Error('later')), 20));
  const items = [{ name: later }, { name: () => { throw new Error('at once'); } }];
  const source = 'type Query { items: [Item!]! } type Item { name: String! }';
  const { errors } = await graphql({ schema: buildSchema(source), source: '{ items { name } }', rootValue: { items } });
  process.stdout.write(errors.map(({ message }) => message).join() + '\\n');
  ${work}
  setTimeout(() => process.stdout.write('alive\\n'), 100);`;

const run = (guard: string, work = '') => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program(guard, work)],
    { encoding: 'utf8' },
  );
  return { status, output: stdout.trim().split('\n'), stderr };
};

const guard = `outliveForsakenFields({ warn: (_, text) => process.stdout.write(text + '\\n') });`;

test('the process outlives it, and logs it', () => {
  assert.deepEqual(run(guard), {
    status: 0,
    output: ['at once', 'a field failed after its operation had ended', 'alive'],
    stderr: '',
  });
});

test('without that, graphql-js ends the process', () => {
  const { status, output } = run('');
  assert.deepEqual([status, output], [1, ['at once']]);
});

test('any other unhandled rejection ends the process as ever', () => {
  const { status, stderr } = run(guard, `Promise.reject(new Error('a mistake of ours'));`);
  assert.equal(status, 1);
  assert.match(stderr, /a mistake of ours/);
});
