import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { countOf } from '../chaos/orders.ts';
import { runChaos } from '../chaos/run-chaos.ts';
import { patience_ms } from '../support/eventually.ts';

const seed = randomInt(1_000_000);
const operations = 150;

test('through faults of every kind and kills of every process nothing is paid, charged, refunded or paid out twice, and the books agree to the kopeck', async (context) => {
  const print = (line: string): void => context.diagnostic(line);
  const { done, agreed } = await runChaos({
    operations,
    atOnce: 12,
    kills: 5,
    times: 10,
    seed,
    patience_ms,
    print,
  });
  assert.equal(countOf(done), operations);
  assert.ok(agreed.givenBack > 0, `the last use was wanted twice; seed ${seed}`);
  assert.ok(agreed.paid > 0n && agreed.refunded > 0n && agreed.paidOut > 0n, `seed ${seed}`);
});
