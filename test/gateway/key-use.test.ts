import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import {
  keyUseGather_ms,
  keyUseTold_ms,
  openKeyUse,
  type UsedKey,
} from '../../gateway/callers/key-use.ts';

/** Uses of keys on a clock of the test's own; `said` is what was told, one line for each time. */
const open = (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const clock = { ms: 0 };
  const said: string[] = [];
  const listener = { hears: true };
  const warnings: unknown[] = [];
  const tell = async (used: readonly UsedKey[]): Promise<void> => {
    if (!listener.hears) throw new Error('nobody is there');
    said.push(used.map(({ keyId }) => keyId).join(' '));
  };
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  const keyUse = openKeyUse({ tell, log, now_ms: () => clock.ms });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= keyUseGather_ms) {
      clock.ms += Math.min(left, keyUseGather_ms);
      t.mock.timers.tick(Math.min(left, keyUseGather_ms));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const use = (keyId: string): void => keyUse.note({ merchantId: 'm', keyId });
  return { keyUse, use, pass, said, warnings, listener };
};

test('a key that is used all the time is told of once in a minute', async (t) => {
  const { use, pass, said } = open(t);
  for (let passed = 0; passed < 3 * keyUseTold_ms; passed += 1_000) {
    use('a');
    await pass(1_000);
  }
  assert.deepEqual(said, ['a', 'a', 'a']);
});

test('keys are told of together, and nothing is told when none was used', async (t) => {
  const { use, pass, said } = open(t);
  for (const key of ['a', 'b', 'a']) use(key);
  assert.deepEqual(said, [], 'a request waited for the telling');
  await pass(keyUseTold_ms);
  assert.deepEqual(said, ['a b']);
});

test('what could not be told is told with the key’s next use', async (t) => {
  const { use, pass, said, warnings, listener } = open(t);
  listener.hears = false;
  use('a');
  await pass(keyUseGather_ms);
  listener.hears = true;
  use('a');
  await pass(keyUseGather_ms);
  assert.deepEqual([said, warnings.length], [['a'], 1]);
});

test('closing tells the last uses', async (t) => {
  const { keyUse, use, said } = open(t);
  use('a');
  await keyUse.close();
  assert.deepEqual(said, ['a']);
});
