import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { PayoutDraft } from '../../subgraphs/payouts/entities.ts';
import { Drafts } from './drafts-harness.ts';
import { at, openHarness, sbp, type Harness } from './harness.ts';
import { eventually } from '../support/eventually.ts';
import { killBetween } from '../support/kill-approvals.ts';

let harness: Harness;
let drafts: Drafts;
before(async () => {
  harness = await openHarness();
  drafts = new Drafts(harness);
});
after(() => harness.migrated.close());

/** More than the approval of two drafts has statements. */
const moments = 24;

test('a process killed between any two statements of an approval of several leaves drafts that wait, or one payout of each', async () => {
  const keys: KeyPrincipal[] = [];
  const proposed: PayoutDraft[][] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    const key = await harness.funded(1_000n);
    keys.push(key);
    const pair = [await drafts.proposed(key, { amount: 300n, ...sbp })];
    pair.push(await drafts.proposed(key, { amount: 200n, ...sbp }));
    proposed.push(pair);
  }
  const calls = proposed.map((pair, place) => ({
    merchantId: keys[place]?.merchantId ?? '',
    ids: pair.map(({ id }) => id),
  }));
  const seen = await killBetween(harness.migrated.database, 'payout', calls);
  const cut = seen.filter((line) => line.startsWith('here')).length;
  assert.ok(cut >= 16 && cut < moments, seen.join());
  let torn = 0;
  for (const [place, pair] of proposed.entries()) {
    // Another person approves; what the first one's approval made stands.
    const answers = await eventually(async () => {
      const all = await drafts.approveAll(pair, 'clara');
      return all.every((one) => !isRefusal(one) || one.code === 'not_pending') ? all : null;
    }, 'answers');
    const deciders: (string | null)[] = [];
    for (const [line, draft] of pair.entries()) {
      const { status, decidedBy } = await drafts.find(draft);
      deciders.push(decidedBy);
      const by = isRefusal(answers[line] ?? assert.fail()) ? 'boris' : 'clara';
      assert.deepEqual([status, decidedBy], ['approved', by], `killed behind ${place} statements`);
      assert.equal((await drafts.log(draft)).length, 2, 'made, and approved once');
    }
    if (new Set(deciders).size === 2) torn += 1;
    const key = keys[place] ?? assert.fail();
    assert.deepEqual((await drafts.payouts(key)).toSorted(), pair.map(({ id }) => id).toSorted());
    await harness.send(at(1));
    assert.deepEqual(await harness.books(key), {
      available: 500n,
      reserved: 0n,
      paid: 500n,
      fees: 0n,
    });
  }
  assert.ok(torn > 0, 'a kill between two drafts of one call');
});
