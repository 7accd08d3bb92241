import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isRefused } from '../../subgraphs/kernel/rules/refusal.ts';
import { Drafts } from './drafts-harness.ts';
import { at, openHarness, sbp, type Harness } from './harness.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';

let harness: Harness;
let drafts: Drafts;
before(async () => {
  harness = await openHarness();
  drafts = new Drafts(harness);
});
after(() => harness.migrated.close());

/** Approves a draft in a process that is killed behind so many statements; gives its output. */
const killBehind = async (
  statements: number,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<string> => {
  const script = join(import.meta.dirname, 'doomed-approval.ts');
  const { url } = harness.migrated.database;
  const child = spawn(process.execPath, [script, url, merchantId, id, String(statements)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [first] = await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGKILL');
  await ended;
  return String(first).trim();
};

test('a process killed between any two statements of an approval leaves a draft that waits, or one payout', async () => {
  const seen: string[] = [];
  for (let statements = 0; seen.at(-1) !== 'done'; statements += size(3, 1)) {
    assert.ok(statements < 40, 'an approval has an end');
    const key = await harness.funded(1_000n);
    const draft = await drafts.proposed(key, { amount: 300n, ...sbp });
    seen.push(await killBehind(statements, draft));
    assert.match(seen.at(-1) ?? '', /^(here|done)$/);
    // Another person approves; where the first one's approval stands, that is refused.
    const answer = await eventually(async () => {
      const one = await drafts.approve(draft, 'clara');
      return !isRefused(one) || one.code === 'not_pending' ? one : null;
    }, 'an answer');
    const { status, decidedBy } = await drafts.find(draft);
    assert.deepEqual(
      [status, decidedBy],
      ['approved', isRefused(answer) ? 'boris' : 'clara'],
      `killed behind ${statements} statements`,
    );
    assert.deepEqual(await drafts.payouts(key), [draft.id]);
    await harness.send(at(1));
    assert.deepEqual(await harness.books(key), {
      available: 700n,
      reserved: 0n,
      paid: 300n,
      fees: 0n,
    });
    assert.equal((await drafts.log(draft)).length, 2, 'made, and approved once');
  }
  assert.ok(seen.length > size(3, 8), `only ${seen.length} moments`);
});
