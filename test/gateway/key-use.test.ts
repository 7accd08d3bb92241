import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { keyUseInterval_ms, openKeyUse, type UsedKey } from '../../gateway/callers/authenticate.ts';

/** Uses gather for so long. */
const gathered_ms = 1_000;

/** Uses of keys on a clock of the test's own; `reports` has one line for each report. */
const open = (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const clock = { ms: 0 };
  const reports: string[] = [];
  const receiver = { available: true };
  const warnings: unknown[] = [];
  const report = async (used: readonly UsedKey[]): Promise<void> => {
    if (!receiver.available) throw new Error('the receiver is away');
    reports.push(used.map(({ keyId }) => keyId).join(' '));
  };
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  const keyUse = openKeyUse({ report, log, now_ms: () => clock.ms });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= gathered_ms) {
      clock.ms += Math.min(left, gathered_ms);
      t.mock.timers.tick(Math.min(left, gathered_ms));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const use = (keyId: string): void => keyUse.record({ merchantId: 'm', keyId });
  return { keyUse, use, pass, reports, warnings, receiver };
};

test('a key that is used all the time is reported once a minute', async (t) => {
  const { use, pass, reports } = open(t);
  for (let passed = 0; passed < 3 * keyUseInterval_ms; passed += 1_000) {
    use('a');
    await pass(1_000);
  }
  assert.deepEqual(reports, ['a', 'a', 'a']);
});

test('keys are reported together, and nothing is reported when none was used', async (t) => {
  const { use, pass, reports } = open(t);
  for (const key of ['a', 'b', 'a']) use(key);
  assert.deepEqual(reports, [], 'a request waited for the report');
  await pass(keyUseInterval_ms);
  assert.deepEqual(reports, ['a b']);
});

test('what could not be reported is reported with the key’s next use', async (t) => {
  const { use, pass, reports, warnings, receiver } = open(t);
  receiver.available = false;
  use('a');
  await pass(gathered_ms);
  receiver.available = true;
  use('a');
  await pass(gathered_ms);
  assert.deepEqual([reports, warnings.length], [['a'], 1]);
});

test('closing reports the last uses', async (t) => {
  const { keyUse, use, reports } = open(t);
  use('a');
  await keyUse.close();
  assert.deepEqual(reports, ['a']);
});
