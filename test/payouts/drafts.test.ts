import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { noPolicies } from '../support/no-policies.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import { erasePersonalData } from '../../subgraphs/merchants/erasure/erase-personal-data.ts';
import { createDraft, payoutDrafts } from '../../subgraphs/payouts/drafts/create-draft.ts';
import { expireDrafts } from '../../subgraphs/platform/drafts/drafts.ts';
import { pendingDrafts_max } from '../../subgraphs/platform/drafts/rules.ts';
import type { PayoutDraft } from '../../subgraphs/payouts/entities.ts';
import { quotePayouts } from '../../subgraphs/payouts/quote-payouts.ts';
import type { PayoutMethod } from '../../subgraphs/payouts/rules/payout.ts';
import { codeOf, granted } from '../support/granted.ts';
import { Drafts, partsAt, person } from './drafts-harness.ts';
import { account, at, card, cardNumber, openHarness, sbp, start, type Harness } from './harness.ts';

let harness: Harness;
let drafts: Drafts;
before(async () => {
  harness = await openHarness();
  drafts = new Drafts(harness);
});
after(() => harness.migrated.close());

const bare = { recipientOf: null, batchId: null, reason: null, idempotency: null } as const;
const over = start.add({ hours: 72 });

test('one person proposes and another approves; the payout has the draft’s id, and is paid once', async () => {
  const key = await harness.funded(1_000n);
  const draft = await drafts.proposed(key, { amount: 600n, ...sbp, fullName: 'Petrov I.' });
  assert.equal((await harness.books(key)).reserved, 0n, 'a proposal takes nothing');
  assert.equal(codeOf(await drafts.approve(draft, 'anna')), 'scope_required');
  const { payout, replayed } = granted(await drafts.approve(draft, 'boris'));
  assert.deepEqual(
    [payout.id, payout.status, payout.recipientPhone, payout.recipientName, replayed],
    [draft.id, 'pending', sbp.phone, 'Petrov I.', false],
  );
  assert.equal((await harness.books(key)).reserved, 600n);
  await harness.send(at(1));
  const again = granted(await drafts.approve(draft, 'boris'));
  assert.deepEqual([again.replayed, again.payout.status], [true, 'succeeded']);
  assert.equal(codeOf(await drafts.approve(draft, 'clara')), 'not_pending');
  assert.equal(codeOf(await drafts.reject(draft, 'clara')), 'not_pending');
  assert.deepEqual(await harness.books(key), {
    available: 400n,
    reserved: 0n,
    paid: 600n,
    fees: 0n,
  });
  assert.deepEqual(await drafts.log(draft), [
    'anna payout_draft.create',
    'boris payout_draft.approve',
  ]);
});

test('the database itself refuses a draft that one person made and approved', async () => {
  const draft = await drafts.proposed(await harness.funded(100n), { amount: 100n, ...sbp });
  await assert.rejects(
    harness.pool.query(
      `update payout_draft set status = 'approved', decided_by = created_by, decided_at = now() where id = $1`,
      [draft.id],
    ),
    /payout_draft_two/,
  );
});

test('many approvals, rejections and the end of its time at once have one effect, and the books say so', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await harness.funded(1_000n);
    const draft = await drafts.proposed(key, { amount: 300n, ...sbp });
    const late = round % 2 === 1;
    const answers = await Promise.all([
      ...Array.from({ length: 12 }, (_, index) => drafts.approve(draft, `person-${index % 4}`)),
      ...Array.from({ length: 3 }, (_, index) => drafts.reject(draft, `rejecter-${index}`)),
      ...(late
        ? [expireDrafts(payoutDrafts, harness.parts.database, () => over).then(() => null)]
        : []),
    ]);
    const { status } = await drafts.find(draft);
    const made = await drafts.payouts(key);
    assert.deepEqual(made, status === 'approved' ? [draft.id] : []);
    const paid = answers.filter(
      (answer) => answer && !isRefusal(answer) && 'payout' in answer && !answer.replayed,
    );
    assert.equal(paid.length, made.length, 'as many were answered that they made it');
    await harness.send(at(1));
    const sum = status === 'approved' ? 300n : 0n;
    assert.deepEqual(await harness.books(key), {
      available: 1_000n - sum,
      reserved: 0n,
      paid: sum,
      fees: 0n,
    });
    assert.equal((await drafts.log(draft)).length, 2, 'made, and decided once');
  }
});

test('drafts approved at once never take more than there is', async () => {
  const key = await harness.funded(1_000n);
  const proposed = await Promise.all(
    Array.from({ length: 8 }, () => drafts.proposed(key, { amount: 300n, ...sbp })),
  );
  const codes = await Promise.all(
    proposed.map(async (draft) => codeOf(await drafts.approve(draft, 'boris'))),
  );
  assert.equal(codes.filter((code) => code === 'insufficient_balance').length, 5);
  assert.deepEqual(
    [(await drafts.payouts(key)).length, (await harness.books(key)).reserved],
    [3, 900n],
  );
});

describe('several drafts', () => {
  test('that are approved by many calls at once, alone and together, are paid once each and never more than there is', async () => {
    const key = await harness.funded(1_000n);
    const proposed: PayoutDraft[] = [];
    for (let line = 0; line < 6; line += 1)
      proposed.push(await drafts.proposed(key, { amount: 300n, ...sbp }));
    const [first] = proposed;
    const answers = await Promise.all([
      drafts.approveAll(proposed, 'boris'),
      // A second press, another person from the end, and one draft on its own.
      drafts.approveAll(proposed, 'boris'),
      drafts.approveAll(proposed.toReversed(), 'clara'),
      drafts.approve(first ?? assert.fail(), 'dora').then((one) => [one]),
    ]);
    const made = answers.flat().filter((one) => !isRefusal(one) && !one.replayed);
    const paid = await drafts.payouts(key);
    assert.deepEqual([made.length, paid.length], [3, 3], 'as many were answered as are made');
    await harness.send(at(1));
    const after = { available: 100n, reserved: 0n, paid: 900n, fees: 0n };
    assert.deepEqual(await harness.books(key), after);
    // Pressed again: those that were paid are answered as they are, the others are refused again.
    for (const one of await drafts.approveAll(proposed, 'boris'))
      assert.ok(isRefusal(one) || one.replayed);
    assert.deepEqual(await harness.books(key), after);
  });

  test('are each answered by line: one that is refused does not hinder the others', async () => {
    const key = await harness.funded(1_000n);
    const stranger = await drafts.proposed(await harness.funded(1_000n), { amount: 1n, ...sbp });
    const good = await drafts.proposed(key, { amount: 400n, ...sbp });
    const decided = await drafts.proposed(key, { amount: 1n, ...sbp });
    granted(await drafts.reject(decided, 'clara'));
    const byCard = await drafts.proposed(key, { amount: 1n, ...card });
    const dear = await drafts.proposed(key, { amount: 601n, ...sbp });
    const last = await drafts.proposed(key, { amount: 600n, ...account });
    const lines = [good, stranger, decided, byCard, dear, last];
    const codes = (await drafts.approveAll(lines, 'boris')).map(codeOf);
    assert.deepEqual(codes, [
      'not refused',
      'not_found',
      'not_pending',
      'bad_request',
      'insufficient_balance',
      'not refused',
    ]);
    assert.equal((await drafts.find(dear)).refusalCode, 'insufficient_balance');
    assert.equal((await drafts.find(stranger)).status, 'pending');
    const own = (await drafts.approveAll([byCard, dear], 'anna')).map(codeOf);
    assert.deepEqual(own, ['scope_required', 'scope_required'], 'maker and checker of each');
    assert.deepEqual((await harness.books(key)).reserved, 1_000n);
  });
});

test('what a payout will take is told before to the last kopeck, as it is charged then', async () => {
  const live = await harness.migrated.merchant('live');
  const { merchantId, shopId, mode } = live;
  await harness.credit(live, 100_000n);
  const quote = async (items: readonly (readonly [PayoutMethod, bigint])[], whose = live) =>
    quotePayouts(
      harness.pool,
      {
        merchantId: whose.merchantId,
        mode: whose.mode,
        items: items.map(([method, amount]) => ({ shopId: whose.shopId, method, amount })),
      },
      start,
    );
  const sums = async (...asked: Parameters<typeof quote>): Promise<bigint[]> => {
    const { amount, fee, withheld, available, remaining } = granted(await quote(...asked));
    return [amount, fee, withheld, available, remaining];
  };
  const free = [12_345n, 0n, 12_345n, 100_000n, 87_655n];
  assert.deepEqual(await sums([['payouts_sbp', 12_345n]]), free, 'no rate is set');
  await harness.pool.query(
    `insert into rate (id, merchant_id, shop_id, method, rate_bps, since) values
      (gen_random_uuid(), $1, null, 'payouts_sbp', 900, $3), (gen_random_uuid(), $1, $2, 'payouts_sbp', 133, $3), (gen_random_uuid(), $1, $2, 'payouts_account', 77, $3)`,
    [merchantId, shopId, at(-10).toString()],
  );
  const items = [
    ['payouts_sbp', 12_345n],
    ['payouts_sbp', 150n],
    ['payouts_account', 9_999n],
  ] as const;
  const [, fee = 0n, withheld = 0n] = await sums(items);
  await harness.pool.query(
    `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
     select $1, gen_random_uuid(), $2, $3, 'payout', way, 'simulator', 1, true, now() from unnest(array['sbp', 'account']) as way`,
    [merchantId, shopId, mode],
  );
  const parts = harness.liveParts();
  const charged: bigint[] = [];
  for (const [method, amount] of items) {
    const to = method === 'payouts_sbp' ? sbp : account;
    const draft = await drafts.proposed(live, { method, amount, ...to });
    charged.push(granted(await drafts.approve(draft, 'boris', { parts })).payout.fee);
  }
  assert.deepEqual([charged, fee], [[164n, 2n, 77n], 243n]);
  const { available, reserved } = await harness.books(live);
  assert.deepEqual([reserved, available], [withheld, 100_000n - withheld]);
  const [, , , now, below] = await sums([['payouts_sbp', 100_000n]]);
  assert.deepEqual([now, below], [available, available - 101_330n], 'less than nothing remains');
  const test = await harness.funded(1n);
  assert.deepEqual((await sums([['payouts_sbp', 12_345n]], test))[1], 0n, 'test mode is free');
  assert.deepEqual(await sums([]), [0n, 0n, 0n, available, available]);

  const foreign = { ...live, shopId: test.shopId };
  assert.equal(codeOf(await quote([['payouts_sbp', 1n]], foreign)), 'not_found');
  assert.equal(codeOf(await quote([['payouts_sbp', 0n]])), 'bad_request');
  const many = Array.from({ length: 1_001 }, () => ['payouts_sbp', 1n] as const);
  assert.equal(codeOf(await quote(many)), 'bad_request');
});

describe('what stands against the payout', () => {
  test('is kept with the draft, which can be approved again when there is money', async () => {
    const key = await harness.funded(100n);
    const draft = await drafts.proposed(key, { amount: 300n, ...sbp });
    assert.equal(codeOf(await drafts.approve(draft, 'boris')), 'insufficient_balance');
    const waiting = await drafts.find(draft);
    assert.deepEqual(
      [waiting.status, waiting.refusalCode, waiting.refusedAt],
      ['pending', 'insufficient_balance', start],
    );
    assert.match(waiting.refusalMessage ?? '', /exceed the available balance/);
    await harness.credit(key, 500n);
    const { payout, draft: approved } = granted(await drafts.approve(draft, 'clara'));
    assert.deepEqual([payout.amount, approved.refusalCode], [300n, null]);
    assert.deepEqual(await drafts.log(draft), [
      'anna payout_draft.create',
      'boris payout_draft.refuse',
      'clara payout_draft.approve',
    ]);
  });

  test('a blocked recipient leaves a draft that can be rejected', async () => {
    const key = await harness.funded(1_000n);
    const draft = await drafts.proposed(key, { amount: 300n, ...account });
    const policies = {
      ...noPolicies,
      isBlocked: (_: string, kind: string, text: string) =>
        kind === 'account' && text === account.accountNumber,
    };
    assert.equal(codeOf(await drafts.approve(draft, 'boris', { policies })), 'aml_blocked');
    assert.equal((await drafts.find(draft)).refusalCode, 'aml_blocked');
    const rejected = granted(await drafts.reject(draft, 'anna', 'Withdrawn'));
    assert.deepEqual(
      [rejected.status, rejected.decidedBy, rejected.rejectReason],
      ['rejected', 'anna', 'Withdrawn'],
    );
    assert.deepEqual(await drafts.payouts(key), []);
  });

  test('live mode that is off, and a shop without a route', async () => {
    const { merchantId, shopId } = await harness.funded(1_000n);
    const asked = { merchantId, shopId, mode: 'live', ...bare } as const;
    const input = { amount: 100n, ...sbp };
    const made = await createDraft(partsAt(harness.parts), person('anna'), { ...asked, input });
    assert.equal(codeOf(made), 'live_not_enabled');
    const live = await harness.migrated.merchant('live');
    await harness.credit(live, 1_000n);
    const draft = await drafts.proposed(live, input);
    assert.equal(codeOf(await drafts.approve(draft, 'boris')), 'route_not_configured');
    assert.equal((await drafts.find(draft)).refusalCode, 'route_not_configured');
    await harness.pool.query(
      `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
       values ($1, gen_random_uuid(), $2, 'live', 'payout', 'sbp', 'simulator', 1, true, now())`,
      [live.merchantId, live.shopId],
    );
    const parts = harness.liveParts();
    const { payout } = granted(await drafts.approve(draft, 'boris', { parts }));
    assert.deepEqual([payout.mode, payout.status], ['live', 'pending']);
  });
});

test('a card’s number is not stored: the approver types it again, and it must be the same', async () => {
  const key = await harness.funded(1_000n);
  const draft = await drafts.proposed(key, { amount: 300n, ...card });
  const { rows } = await harness.pool.query('select draft::text from payout_draft as draft');
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(cardNumber));
  const approve = (cardPan: string | null) => drafts.approve(draft, 'boris', { cardPan });
  assert.equal(codeOf(await approve(null)), 'bad_request');
  assert.equal(codeOf(await approve('2200000000000053')), 'bad_request');
  const { payout, draft: approved } = granted(await approve(cardNumber));
  assert.deepEqual(
    [payout.status, payout.recipientCardMask, approved.status],
    ['succeeded', '0004', 'approved'],
  );
  assert.equal((await drafts.find(draft)).recipientCardDigest, null);
  const other = await drafts.proposed(key, { amount: 300n, ...sbp });
  const given = await drafts.approve(other, 'boris', { cardPan: cardNumber });
  assert.equal(codeOf(given), 'bad_request');
});

test('a draft without a decision expires, and is then neither approved nor rejected', async () => {
  const key = await harness.funded(1_000n);
  const draft = await drafts.proposed(key, { amount: 300n, ...sbp });
  assert.equal(codeOf(await drafts.approve(draft, 'boris', { at: over })), 'not_pending');
  await expireDrafts(payoutDrafts, harness.parts.database, () =>
    over.subtract({ milliseconds: 1 }),
  );
  assert.equal((await drafts.find(draft)).status, 'pending');
  await expireDrafts(payoutDrafts, harness.parts.database, () => over);
  assert.equal((await drafts.find(draft)).status, 'expired');
  assert.equal(codeOf(await drafts.approve(draft, 'boris')), 'not_pending');
  assert.equal(codeOf(await drafts.reject(draft, 'boris')), 'not_pending');
  assert.deepEqual(await drafts.payouts(key), []);
  assert.equal((await drafts.log(draft)).at(-1), 'expire-payout-drafts payout_draft.expire');
});

test('a repeated proposal is one draft, and its terms are those of a payout', async () => {
  const { merchantId, shopId, mode } = await harness.funded(1_000n);
  const propose = (amount: bigint, reason: string | null = null) =>
    createDraft(partsAt(harness.parts), person('anna'), {
      merchantId,
      shopId,
      mode,
      input: { amount, ...sbp },
      recipientOf: null,
      batchId: null,
      reason,
      idempotency: { key: 'k-1' },
    });
  const [one, two] = await Promise.all([propose(100n), propose(100n)]);
  assert.deepEqual(
    [
      granted(one).made.id,
      [granted(one).replayed, granted(two).replayed].toSorted((a, b) => Number(a) - Number(b)),
    ],
    [granted(two).made.id, [false, true]],
  );
  assert.equal(codeOf(await propose(200n)), 'idempotent_conflict');
  assert.equal(codeOf(await propose(0n)), 'bad_request');
  assert.equal(codeOf(await propose(1n, 'x'.repeat(1_001))), 'bad_request');
});

test('a merchant has so many drafts waiting at most, which hinders no other', async () => {
  const [key, other] = [await harness.funded(100n), await harness.funded(100n)];
  const { id } = await drafts.proposed(key, { amount: 1n, ...sbp });
  await harness.pool.query(
    `insert into payout_draft (merchant_id, id, shop_id, mode, amount, currency, method, status, created_by, created_at, expires_at)
     select merchant_id, gen_random_uuid(), shop_id, mode, amount, currency, method, status, created_by, created_at, expires_at
     from payout_draft cross join generate_series(2, $2) where id = $1`,
    [id, pendingDrafts_max],
  );
  const { merchantId, shopId, mode } = key;
  const asked = { merchantId, shopId, mode, ...bare };
  const input = { amount: 1n, ...sbp };
  const made = await createDraft(partsAt(harness.parts), person('anna'), { ...asked, input });
  assert.equal(codeOf(made), 'bad_request');
  await drafts.proposed(other, input);
});

test('whom a decided draft was for is erased by its id, with its payout’s; one that waits is left', async () => {
  const key = await harness.funded(1_000n);
  const { merchantId } = key;
  const input = { amount: 100n, ...sbp, fullName: 'Petrov I.' };
  const proposed = [await drafts.proposed(key, input), await drafts.proposed(key, input)] as const;
  const erase = async ({ id }: { id: string }) => {
    const asked = { merchantId, subject: 'payout', id, reason: 'Asked for it' } as const;
    const { database } = harness.migrated;
    const { payouts, left } = granted(await erasePersonalData(database, person('anna'), asked));
    return { payouts, left };
  };
  const [paid, rejected] = proposed;
  assert.deepEqual(await erase(paid), { payouts: 0, left: 1 });
  granted(await drafts.approve(paid, 'boris'));
  assert.deepEqual(await erase(paid), { payouts: 0, left: 1 }, 'its payout is on its way');
  assert.equal((await drafts.find(paid)).recipientPhone, sbp.phone);
  await harness.send(at(1));
  granted(await drafts.reject(rejected, 'boris'));
  for (const draft of proposed) {
    assert.deepEqual(await erase(draft), { payouts: 1, left: 0 });
    const { recipientPhone, recipientName, reason, amount } = await drafts.find(draft);
    assert.deepEqual([recipientPhone, recipientName, reason, amount], [null, null, null, 100n]);
  }
});
