import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { PayoutDraft } from '../../subgraphs/payouts/drafts/entities.ts';
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

/** More than an approval has statements. */
const moments = 12;

test('a process killed between any two statements of an approval leaves a draft that waits, or one payout', async () => {
  const keys: KeyPrincipal[] = [];
  const proposed: PayoutDraft[] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    const key = await harness.funded(1_000n);
    keys.push(key);
    proposed.push(await drafts.proposed(key, { amount: 300n, ...sbp }));
  }
  const seen = await killBetween(harness.migrated.database, 'payout', proposed);
  const cut = seen.filter((line) => line.startsWith('here')).length;
  assert.ok(cut >= 8 && cut < moments, seen.join());
  for (const [place, draft] of proposed.entries()) {
    // Another person approves; where the first one's approval stands, that is refused.
    const answer = await eventually(async () => {
      const one = await drafts.approve(draft, 'clara');
      return !isRefusal(one) || one.code === 'not_pending' ? one : null;
    }, 'an answer');
    const { status, decidedBy } = await drafts.find(draft);
    assert.deepEqual(
      [status, decidedBy],
      ['approved', isRefusal(answer) ? 'boris' : 'clara'],
      `killed behind ${place} statements`,
    );
    const key = keys[place] ?? assert.fail();
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
});
