import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { propertyNames } from '../../subgraphs/platform/database/statement.ts';
import { noPolicies } from '../support/no-policies.ts';
import { applyPayoutAnswer } from '../../subgraphs/payouts/apply-payout-answer.ts';
import { PayoutEntity } from '../../subgraphs/payouts/entities.ts';
import type { Reach } from '../../subgraphs/platform/database/reach.ts';
import { searchPayouts } from '../../subgraphs/payouts/search-payouts.ts';
import { answered, codeOf, granted } from '../support/granted.ts';
import { openGate, repeatWhileAsking } from '../support/slow-answer.ts';
import { account, at, card, cardNumber, openHarness, sbp, start, type Harness } from './harness.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.migrated.close());

const eventsOf = async (
  id: string,
): Promise<readonly (readonly [string | null, string | null, unknown])[]> => {
  const { rows } = await harness.pool.query<{
    stream_kind: string | null;
    webhook_event: string | null;
    webhook_body: string | null;
  }>(
    'select stream_kind, webhook_event, webhook_body from event where subject_id = $1 order by position',
    [id],
  );
  return rows.map((row) => [
    row.stream_kind,
    row.webhook_event,
    row.webhook_body === null ? null : JSON.parse(row.webhook_body).data.status,
  ]);
};

describe('making a payout', () => {
  test('reserves the amount in the creating transaction, and gives nothing to the bank', async () => {
    const key = await harness.funded(10_000n);
    const payout = await harness.made(key, { amount: 4_000n, ...sbp, fullName: 'Ivan Petrov' });
    assert.deepEqual(
      [payout.status, payout.fee, payout.connector, payout.sentAt, payout.askAt],
      ['pending', 0n, 'simulator', null, start],
    );
    assert.deepEqual(await harness.books(key), {
      available: 6_000n,
      reserved: 4_000n,
      paid: 0n,
      fees: 0n,
    });
    const { rows } = await harness.pool.query(
      'select 1 from simulator_operation where operation_id = $1',
      [payout.id],
    );
    assert.equal(rows.length, 0);
    assert.deepEqual(await eventsOf(payout.id), [['payout.created', 'payout.created', 'pending']]);
    const stored = await harness.migrated.database
      .fork()
      .findOneOrFail(PayoutEntity, { merchantId: key.merchantId, id: payout.id });
    const properties = Object.fromEntries(
      propertyNames(PayoutEntity).map((name) => [name, Reflect.get(stored, name)]),
    );
    assert.deepEqual(properties, { ...payout }, 'what the call gives is what the entity reads');
  });

  test('above what is available is refused, to the last kopeck, and frees the key', async () => {
    const key = await harness.funded(1_000n);
    assert.equal(
      codeOf(await harness.create(key, { amount: 1_001n, ...sbp }, { key: 'k' })),
      'insufficient_balance',
    );
    const made = granted(await harness.create(key, { amount: 1_000n, ...sbp }, { key: 'k' }));
    assert.equal(made.replayed, false);
    assert.equal(codeOf(await harness.create(key, { amount: 1n, ...sbp })), 'insufficient_balance');
  });

  test('a live payout reserves its fee too: the rate of its method, the most specific one', async () => {
    const key = { ...(await harness.migrated.merchant('live')) };
    await harness.credit(key, 10_100n);
    await harness.pool.query(
      `insert into rate (id, merchant_id, shop_id, method, rate_bps, since) values (gen_random_uuid(), null, null, 'payouts_account', 500, $2::timestamptz),
        (gen_random_uuid(), $1, null, 'payouts_account', 100, $2::timestamptz)`,
      [key.merchantId, at(-10).toString()],
    );
    await harness.pool.query(
      `insert into bank_route (merchant_id, id, shop_id, mode, operation, method, connector, priority, active, created_at)
        values ($1, gen_random_uuid(), $2, 'live', 'payout', 'account', 'simulator', 0, true, now())`,
      [key.merchantId, key.shopId],
    );
    const parts = harness.liveParts();
    assert.equal(
      codeOf(await harness.create(key, { amount: 10_001n, ...account }, null, { parts })),
      'insufficient_balance',
    );
    const { payout } = granted(
      await harness.create(key, { amount: 10_000n, ...account, inn: '7707083893' }, null, {
        parts,
      }),
    );
    assert.deepEqual(
      [payout.fee, await harness.books(key)],
      [100n, { available: 0n, reserved: 10_100n, paid: 0n, fees: 0n }],
    );
    await harness.send(at(1), parts.banks);
    assert.deepEqual(await harness.books(key), {
      available: 0n,
      reserved: 0n,
      paid: 10_000n,
      fees: 100n,
    });
    assert.equal(
      codeOf(await harness.create(key, { amount: 1n, ...sbp }, null, { parts })),
      'route_not_configured',
    );
    assert.equal(
      codeOf(
        await harness.create(key, { amount: 1n, ...account }, null, {
          parts: harness.liveParts(['sbp']),
        }),
      ),
      'method_unsupported',
    );
  });

  test('a recipient on a block list is not paid; an earlier payout is still answered to its key', async () => {
    const key = await harness.funded(10_000n);
    const isBlocked = (_: string, kind: string, text: string): boolean =>
      [`phone ${sbp.phone}`, `card ${cardNumber}`, `account ${account.accountNumber}`].includes(
        `${kind} ${text}`,
      );
    const policies = { ...noPolicies, isBlocked };
    await harness.create(key, { amount: 100n, ...sbp }, { key: 'before' });
    for (const recipient of [sbp, card, account]) {
      assert.equal(
        codeOf(await harness.create(key, { amount: 100n, ...recipient }, null, { policies })),
        'aml_blocked',
      );
    }
    assert.equal(
      granted(await harness.create(key, { amount: 100n, ...sbp }, { key: 'before' }, { policies }))
        .replayed,
      true,
    );
    assert.equal(
      codeOf(await harness.create(key, { amount: 101n, ...sbp }, { key: 'before' })),
      'idempotent_conflict',
    );
  });

  test('fifty equal calls at once make one payout and reserve once', async () => {
    const key = await harness.funded(10_000n);
    const calls = await Promise.all(
      Array.from({ length: 50 }, () =>
        answered(() => harness.create(key, { amount: 300n, ...card }, { key: 'fifty' })),
      ),
    );
    const made = calls.map(granted);
    assert.equal(new Set(made.map(({ payout }) => payout.id)).size, 1);
    assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
    assert.deepEqual(await harness.books(key), {
      available: 9_700n,
      reserved: 0n,
      paid: 300n,
      fees: 0n,
    });
  });

  test('calls that arrive while the bank of a card is asked have the answer of the first', async () => {
    const key = await harness.funded(10_000n);
    const gate = openGate();
    const { simulator } = harness.parts.banks;
    const parts = harness.withBank({
      pay: async (order) => {
        await gate.pass();
        return simulator.pay(order);
      },
    });
    const answers = await repeatWhileAsking(harness.pool, gate, () =>
      harness.create(key, { amount: 300n, ...card }, { key: 'slow' }, { parts }),
    );
    assert.deepEqual(
      answers.map(granted).map(({ payout, replayed }) => [payout.status, replayed]),
      answers.map((_, index) => ['succeeded', index > 0]),
    );
  });

  const wrong: readonly (readonly [string, object])[] = [
    ['phone: required, expected +7 and 10 digits, got nothing', { bankId: sbp.bankId }],
    ['bank_id: expected 12 digits, got a string of 3 characters', { ...sbp, bankId: '123' }],
    ['card_pan: not a field of payouts_sbp', { ...sbp, cardPan: cardNumber }],
    [
      'card_pan: expected 16 to 18 digits of a valid card number, got a string of 16 characters',
      { ...card, cardPan: cardNumber.replace(/4$/, '5') },
    ],
    [
      'account_number: expected 20 digits, got a string of 16 characters',
      { ...account, accountNumber: cardNumber },
    ],
    [
      'inn: expected 10 or 12 digits, got a string of 11 characters',
      { ...account, inn: '12345678901' },
    ],
    ['currency: expected RUB, got "USD"', { ...sbp, currency: 'USD' }],
    ['currency: expected RUB, got a string of 16 characters', { ...sbp, currency: cardNumber }],
    ['full_name: expected 1 to 255 characters, got 256', { ...sbp, fullName: 'x'.repeat(256) }],
  ];
  for (const [message, input] of wrong) {
    test(`is refused when it is wrong: ${message}`, async () => {
      const refused = await harness.create(await harness.migrated.merchant(), {
        amount: 1n,
        ...input,
      });
      assert.deepEqual(
        [codeOf(refused), Reflect.get(refused, 'message')],
        ['bad_request', message],
      );
    });
  }

  test('a key without the scope of the method may not pay so', async () => {
    const key = await harness.funded(1_000n);
    const narrow = { ...key, scopes: ['api:payouts:sbp'] } as const;
    assert.equal(
      codeOf(await harness.create(narrow, { amount: 1n, ...account })),
      'scope_required',
    );
    assert.equal(codeOf(await harness.create(narrow, { amount: 1n, ...sbp })), 'not refused');
  });
});

describe('what the bank answers', () => {
  const outcomes: readonly (readonly [bigint, string, string | null])[] = [
    [100n, 'succeeded', null],
    [101n, 'failed', 'do_not_honor'],
    [202n, 'failed', 'insufficient_funds'],
    [303n, 'failed', 'expired_card'],
    [404n, 'failed', 'fraud_suspected'],
    [505n, 'pending', null],
    [606n, 'pending', null],
    [707n, 'pending', null],
  ];
  for (const recipient of [sbp, card, account]) {
    const method = 'method' in recipient ? recipient.method : 'payouts_sbp';
    test(`${method}: the amount’s last two digits decide, and the books follow`, async () => {
      for (const [amount, status, failReason] of outcomes) {
        const key = await harness.funded(1_000n);
        const { id } = await harness.made(key, { amount, ...recipient });
        await harness.send(at(1));
        const payout = await harness.find({ merchantId: key.merchantId, id });
        assert.deepEqual(
          [payout.status, payout.failReason, payout.bankRef],
          [status, failReason, `sim_${id}`],
        );
        const paid = status === 'succeeded' ? amount : 0n;
        const reserved = status === 'pending' ? amount : 0n;
        assert.deepEqual(await harness.books(key), {
          available: 1_000n - paid - reserved,
          reserved,
          paid,
          fees: 0n,
        });
        const received =
          status === 'pending' ? [] : [['payout.status_changed', `payout.${status}`, status]];
        assert.deepEqual(await eventsOf(id), [
          ['payout.created', 'payout.created', 'pending'],
          ...received,
        ]);
        await harness.send(at(20));
        assert.equal(
          (await harness.find(payout)).status,
          amount === 707n ? 'succeeded' : status,
          'what is late succeeds; what is pending stays so',
        );
      }
    });
  }

  test('a recipient who is not in SBP: the payout is made as a failed one, with its webhook, and reserves nothing', async () => {
    const key = await harness.funded(1_000n);
    const payout = await harness.made(key, { amount: 100n, ...sbp, phone: '+79000000001' });
    assert.deepEqual(
      [payout.status, payout.failReason, payout.askAt],
      ['failed', 'recipient_not_in_sbp', null],
    );
    assert.deepEqual(await harness.books(key), {
      available: 1_000n,
      reserved: 0n,
      paid: 0n,
      fees: 0n,
    });
    assert.deepEqual(await eventsOf(payout.id), [
      ['payout.created', 'payout.created', 'pending'],
      ['payout.status_changed', 'payout.failed', 'failed'],
    ]);
  });

  for (const recipient of [
    { ...sbp, bankId: '000000000000' },
    { ...card, cardPan: '2200000000000079' },
    { ...account, bik: '000000000' },
  ]) {
    test(`a router error to ${Object.keys(recipient).join(', ')} is 502 and leaves a failed payout, which a replay answers`, async () => {
      const key = await harness.funded(1_000n);
      assert.equal(
        codeOf(await harness.create(key, { amount: 100n, ...recipient }, { key: 'r' })),
        'router_error',
      );
      const { payout, replayed } = granted(
        await harness.create(key, { amount: 100n, ...recipient }, { key: 'r' }),
      );
      assert.deepEqual(
        [replayed, payout.status, payout.failReason],
        [true, 'failed', 'bank_unknown'],
      );
      assert.deepEqual(await harness.books(key), {
        available: 1_000n,
        reserved: 0n,
        paid: 0n,
        fees: 0n,
      });
    });
  }

  test('the same final answer again changes nothing; the opposite one changes nothing and raises an alert', async () => {
    const key = await harness.funded(1_000n);
    const payout = await harness.made(key, { amount: 100n, ...card });
    const again = await Promise.all(
      Array.from({ length: 5 }, () =>
        applyPayoutAnswer(
          harness.migrated.database,
          { ...payout, status: 'pending' },
          { kind: 'approved', reference: 'other' },
          at(2),
        ),
      ),
    );
    assert.deepEqual(new Set(again.map(({ bankRef }) => bankRef)), new Set([`sim_${payout.id}`]));
    await applyPayoutAnswer(
      harness.migrated.database,
      payout,
      { kind: 'declined', failureCode: 'do_not_honor', reference: null },
      at(3),
    );
    assert.equal((await harness.find(payout)).status, 'succeeded');
    assert.deepEqual(await harness.books(key), {
      available: 900n,
      reserved: 0n,
      paid: 100n,
      fees: 0n,
    });
    const { rows } = await harness.pool.query('select kind from alert where subject_id = $1', [
      payout.id,
    ]);
    assert.deepEqual(rows, [{ kind: 'bank_answer_contradicts' }]);
    assert.equal((await eventsOf(payout.id)).length, 2);
  });
});

describe('searching payouts', () => {
  test('an id is found over all merchants; the rest within days, and within the caller’s reach', async () => {
    const key = await harness.funded(10_000n);
    const made = [
      await harness.made(key, { amount: 111n, ...sbp }),
      await harness.made(key, { amount: 222n, ...card }),
      await harness.made(key, { amount: 333n, ...account }),
    ];
    const ids = async (
      reach: Reach | null,
      search: Parameters<typeof searchPayouts>[2],
      first = 50,
    ): Promise<readonly string[]> =>
      granted(await searchPayouts(harness.pool, reach, search, { first })).nodes.map(
        ({ id }) => id,
      );
    const reach: Reach = { merchantId: key.merchantId, shopIds: [key.shopId], modes: ['test'] };
    const days = { from: '2026-11-01', to: '2026-11-30' };
    for (const [place, search] of [
      { phone: sbp.phone },
      { cardMask: '0004' },
      { accountNumber: account.accountNumber },
    ].entries()) {
      assert.deepEqual(await ids(reach, { ...search, ...days }), [made[place]?.id]);
    }
    assert.deepEqual(
      await ids(reach, {
        bankRef: `sim_${made[1]?.id}`,
        status: ['succeeded'],
        amount: 222n,
        ...days,
      }),
      [made[1]?.id],
    );
    assert.equal((await ids(reach, days)).length, 3);
    assert.deepEqual(await ids(null, { id: made[0]?.id }), [made[0]?.id]);
    const stranger = await harness.migrated.merchant();
    assert.deepEqual(
      await ids(
        { ...reach, merchantId: stranger.merchantId, shopIds: [stranger.shopId] },
        { id: made[0]?.id },
      ),
      [],
    );
    for (const wrong of [
      { id: 'x' },
      { phone: sbp.phone },
      { from: '2026-01-01', to: '2026-02-28' },
    ]) {
      assert.equal(
        codeOf(await searchPayouts(harness.pool, reach, wrong, { first: 1 })),
        'bad_request',
      );
    }
    assert.equal(
      codeOf(await searchPayouts(harness.pool, null, days, { first: 1 })),
      'bad_request',
    );
  });
});
