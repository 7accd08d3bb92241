import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBanks } from '../../subgraphs/acquirers/route.ts';
import { openSimulator } from '../../subgraphs/acquirers/simulator/simulator.ts';
import {
  rejectDraft,
  expireDrafts,
  type PersonActing,
} from '../../subgraphs/platform/drafts/drafts.ts';
import { isRefusal } from '../../subgraphs/rules/refusal.ts';
import type { KeyPrincipal, Role } from '../../subgraphs/platform/access/principal.ts';
import { limitSupportRefunds } from '../../subgraphs/merchants/change-merchant.ts';
import { erasePersonalData } from '../../subgraphs/merchants/erasure/erase-personal-data.ts';
import type { PersonCaller } from '../../subgraphs/payments/parts.ts';
import { approveRefundDraft } from '../../subgraphs/payments/refund-drafts/approve-draft.ts';
import {
  createRefundDraft,
  refundDrafts,
} from '../../subgraphs/payments/refund-drafts/create-draft.ts';
import type { RefundDraft } from '../../subgraphs/payments/entities.ts';
import { refundPayment } from '../../subgraphs/payments/refunds/refund-payment.ts';
import { sendDueRefunds } from '../../subgraphs/payments/refunds/send-refund.ts';
import { openHistory, type History } from '../books/history.ts';
import { eventually } from '../support/eventually.ts';
import { codeOf, granted } from '../support/granted.ts';
import { killBetween } from '../support/kill-approvals.ts';
import { startMigratedDatabase, type MigratedDatabase } from '../support/migrated.ts';
import { booksOf } from './books-of.ts';

let migrated: MigratedDatabase;
let history: History;
before(async () => {
  migrated = await startMigratedDatabase();
  history = openHistory(migrated);
});
after(() => migrated.close());

const now = Temporal.Now.instant();
const later = (seconds: number) => now.add({ seconds });

const person = (subject: string, role: Role = 'finance'): PersonActing => ({
  principal: { kind: 'operator', subject, role, merchantId: null },
  requestId: 'r',
  now: () => now,
});
const callerOf = (
  { merchantId, shopId, mode }: KeyPrincipal,
  { principal }: PersonActing,
): PersonCaller => ({ kind: 'person', principal, merchantId, shopId, mode });
const banks = () => openBanks(openSimulator(migrated.database), migrated.database.pool);
const clocks = { timeOf: () => now };

/** Proposes a refund as `anna` of support. */
const propose = (
  key: KeyPrincipal,
  paymentId: string,
  amount: bigint | null,
  reason = 'Broken',
) => {
  const caller = callerOf(key, person('anna', 'support'));
  const asked = { paymentId, amount, reason, receipt: null, requestId: 'r', idempotency: null };
  return createRefundDraft(migrated.database.pool, caller, asked, now);
};
const proposed = async (key: KeyPrincipal, paymentId: string, amount: bigint | null = null) =>
  granted(await propose(key, paymentId, amount)).made;
const approve = (draft: RefundDraft, subject: string, role: Role = 'finance') =>
  approveRefundDraft(
    { database: migrated.database, banks: banks(), clocks },
    person(subject, role),
    draft,
  );
const reject = ({ merchantId, id }: RefundDraft, subject: string) => {
  const parts = { pool: migrated.database.pool, clocks };
  return rejectDraft(refundDrafts, parts, person(subject), { merchantId, id, reason: 'No' });
};
const refundAs = (key: KeyPrincipal, acting: PersonActing, paymentId: string, amount: bigint) =>
  refundPayment(
    migrated.database,
    banks(),
    callerOf(key, acting),
    { paymentId, amount, reason: 'Broken' },
    now,
  );
const find = async (draft: RefundDraft): Promise<RefundDraft> => {
  const [found] = await refundDrafts.load(migrated.database.pool, [draft]);
  return found ?? assert.fail('gone');
};
const query = async (text: string, ...values: readonly unknown[]): Promise<any[]> =>
  (await migrated.database.pool.query(text, [...values])).rows;

/** The refunds of a payment that stand, and what the payment says of them, once the bank was asked. */
const outcome = async (paymentId: string) => {
  await sendDueRefunds(migrated.database, banks(), () => later(60));
  const refunds = await query(
    `select id from refund where payment_id = $1 and status = 'succeeded' order by id`,
    paymentId,
  );
  const [payment] = await query(
    'select amount_refunded::int as refunded, status from payment where id = $1',
    paymentId,
  );
  return { ids: refunds.map(({ id }) => id as string), ...payment };
};
const logOf = async ({ id }: RefundDraft): Promise<readonly string[]> =>
  (await query('select actor, action from audit_entry where subject_id = $1 order by id', id)).map(
    ({ actor, action }) => `${actor} ${action}`,
  );

test('support proposes, finance approves once; the refund has the draft’s id, its reason and its amount', async () => {
  const key = await migrated.merchant();
  const { id: paymentId } = await history.pay(key, 10_000n);
  for (const [amount, reason, code] of [
    [10_001n, 'Broken', 'amount_exceeds_remainder'],
    [4_000n, ' ', 'bad_request'],
  ] as const)
    assert.equal(codeOf(await propose(key, paymentId, amount, reason)), code);
  const draft = await proposed(key, paymentId, 4_000n);
  assert.equal((await outcome(paymentId)).refunded, 0, 'a proposal moves nothing');
  assert.equal(codeOf(await approve(draft, 'anna', 'admin')), 'scope_required');
  const { refund, replayed } = granted(await approve(draft, 'boris'));
  assert.deepEqual(
    [refund.id, refund.amount, refund.reason, refund.status, replayed],
    [draft.id, 4_000n, 'Broken', 'succeeded', false],
  );
  assert.equal(granted(await approve(draft, 'boris')).replayed, true);
  assert.equal(codeOf(await approve(draft, 'clara')), 'not_pending');
  assert.equal(codeOf(await reject(draft, 'clara')), 'not_pending');
  assert.deepEqual(await outcome(paymentId), {
    ids: [draft.id],
    refunded: 4_000,
    status: 'succeeded',
  });
  assert.deepEqual((await logOf(draft)).toSorted(), [
    'anna refund_draft.create',
    'boris refund.create',
    'boris refund_draft.approve',
  ]);
});

test('what stands against the refund is kept with the draft, which waits on', async () => {
  const key = await migrated.merchant();
  const { id: paymentId } = await history.pay(key, 10_000n);
  const [first, second] = [await proposed(key, paymentId), await proposed(key, paymentId, 1n)];
  granted(await approve(first, 'boris'));
  assert.equal(codeOf(await approve(second, 'boris')), 'already_refunded');
  const waiting = await find(second);
  assert.deepEqual([waiting.status, waiting.refusalCode], ['pending', 'already_refunded']);
  granted(await reject(second, 'boris'));
  const due = () => later(72 * 3_600);
  const other = await history.pay(key, 500n);
  const third = await proposed(key, other.id);
  assert.equal(await expireDrafts(refundDrafts, migrated.database, due), 1);
  assert.equal((await find(third)).status, 'expired');
  assert.equal(codeOf(await approve(third, 'boris')), 'not_pending');
});

test('approvals, rejections, other refunds and an erasure at once make at most one refund of a draft, never more than was paid', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await migrated.merchant();
    const { id: paymentId } = await history.pay(key, 10_000n);
    const drafts = [
      await proposed(key, paymentId, 6_000n),
      await proposed(key, paymentId, 6_000n),
      await proposed(key, paymentId, 1_000n),
    ];
    const erasing = { merchantId: key.merchantId, subject: 'payment', id: paymentId } as const;
    await Promise.all([
      ...drafts.flatMap((draft) =>
        Array.from({ length: 4 }, (_, index) => approve(draft, `person-${index % 2}`)),
      ),
      ...(round % 2 === 0 ? drafts.map((draft) => reject(draft, 'clara')) : []),
      ...Array.from({ length: 3 }, () => refundAs(key, person('dora'), paymentId, 1_000n)),
      erasePersonalData(migrated.database, person('erin', 'admin'), {
        ...erasing,
        reason: 'asked',
      }),
    ]);
    const { ids, refunded } = await outcome(paymentId);
    const sums = await query(
      'select coalesce(sum(amount), 0)::int as sum from refund where payment_id = $1',
      paymentId,
    );
    assert.equal(sums[0].sum, refunded);
    assert.ok(refunded <= 10_000, `${refunded}`);
    for (const draft of drafts) {
      const { status } = await find(draft);
      assert.equal(ids.includes(draft.id), status === 'approved');
      const made = (await logOf(draft)).filter((line) => line.endsWith(' refund.create'));
      assert.ok(made.length <= 1, made.join());
    }
    const { merchant } = await booksOf(migrated.database, key);
    const [payment] = await query('select fee::int from payment where id = $1', paymentId);
    assert.equal(merchant, 10_000n - BigInt(payment.fee) - BigInt(refunded));
  }
});

test('two approvals of one draft at once make one refund, and one of them is told that it made it', async () => {
  const key = await migrated.merchant();
  const { id: paymentId } = await history.pay(key, 10_000n);
  const draft = await proposed(key, paymentId, 1_000n);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => approve(draft, `person-${index}`)),
  );
  const made = answers.flatMap((one) => (isRefusal(one) ? [] : [one.replayed]));
  assert.deepEqual(made, [false]);
  const refusals = new Set(answers.filter((one) => isRefusal(one)).map(({ code }) => code));
  assert.deepEqual([...refusals], ['not_pending']);
  assert.deepEqual((await outcome(paymentId)).refunded, 1_000);
  assert.equal((await logOf(draft)).length, 3, 'proposed, approved and made once');
});

test('support refunds by itself as much of a payment as its merchant allows, by however many refunds', async () => {
  const key = await migrated.merchant();
  const { id: paymentId } = await history.pay(key, 10_000n);
  const support = person('anna', 'support');
  const alone = (amount: bigint) => refundAs(key, support, paymentId, amount);
  assert.equal(codeOf(await alone(1n)), 'scope_required', 'nothing, unless it is set');
  const admin = person('boris', 'admin');
  granted(
    await limitSupportRefunds(migrated.database, admin, {
      merchantId: key.merchantId,
      amount: 1_000n,
    }),
  );
  const made = await Promise.all(Array.from({ length: 5 }, () => alone(400n)));
  assert.equal(made.filter((one) => !isRefusal(one)).length, 2);
  assert.deepEqual(
    [...new Set(made.filter((one) => isRefusal(one)).map(({ code }) => code))],
    ['scope_required'],
  );
  assert.equal((await outcome(paymentId)).refunded, 800);
  assert.equal(codeOf(await alone(201n)), 'scope_required');
  granted(await alone(200n));
  granted(await refundAs(key, person('clara'), paymentId, 201n));
});

/** More than an approval has statements. */
const moments = 30;

test('a process killed between any two statements of an approval leaves a draft that waits, or one refund', async () => {
  const key = await migrated.merchant();
  const drafts: RefundDraft[] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    const { id } = await history.pay(key, 1_000n);
    drafts.push(await proposed(key, id, 300n));
  }
  const calls = drafts.map(({ merchantId, id }) => ({ merchantId, ids: [id] }));
  const seen = await killBetween(migrated.database, 'refund', calls);
  const cut = seen.filter((line) => line.startsWith('here')).length;
  assert.ok(cut >= 12 && cut < moments, seen.join());
  for (const [place, draft] of drafts.entries()) {
    const answer = await eventually(async () => {
      const one = await approve(draft, 'clara');
      return !isRefusal(one) || one.code === 'not_pending' ? one : null;
    }, 'an answer');
    const { status, decidedBy } = await find(draft);
    assert.deepEqual(
      [status, decidedBy],
      ['approved', isRefusal(answer) ? 'boris' : 'clara'],
      `killed behind ${place} statements`,
    );
    assert.deepEqual(await outcome(draft.paymentId), {
      ids: [draft.id],
      refunded: 300,
      status: 'succeeded',
    });
    assert.equal((await logOf(draft)).length, 3, 'proposed, approved and made once');
  }
});
