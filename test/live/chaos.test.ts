import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runChaos } from '../chaos/run-chaos.ts';
import { patience_ms } from '../support/eventually.ts';
import { isLong, size } from '../support/size.ts';

const seed = isLong ? randomInt(1_000_000) : 1;
const operations = size(60, 150);
const kills = size(2, 5);

test('through faults of every kind and kills of every process nothing is paid, charged, refunded or paid out twice, and the books agree to the kopeck', async (context) => {
  const print = (line: string): void => context.diagnostic(line);
  const { done, killed, agreed } = await runChaos({
    operations,
    atOnce: 12,
    kills,
    calm_ms: 1_500,
    times: 6,
    seed,
    patience_ms,
    print,
  });
  assert.ok(killed >= kills);
  assert.equal(
    Object.values(done.counts).reduce((sum, count) => sum + count, 0),
    operations,
  );
  assert.ok(agreed.givenBack > 0, `the last use was wanted twice; seed ${seed}`);
  assert.ok(agreed.paid > 0n && agreed.refunded > 0n && agreed.paidOut > 0n, `seed ${seed}`);
});
