/**
 * A shop's program: makes payments, refunds of others, and payouts, so many of each, and prints
 * what it saw. `node move-money.ts <base URL> <key> <payments to refund> <count>`.
 */
import { openPaymentClient } from '../../sdk/src/index.ts';

const [baseUrl = '', apiKey = '', paid = '', count = '0'] = process.argv.slice(2);
// It is about lost answers: give up late.
const client = openPaymentClient({ apiKey, baseUrl, retries_max: 15 });

const paidIds = paid.split(',');
const done = { payments: new Set(), refunds: new Set(), payouts: new Set() };
const calls = Array.from({ length: Number(count) }, (_, index) => [
  async () =>
    void done.payments.add(
      (await client.payments.create({ amount: 100, order_id: `faults-${index}` })).payment.id,
    ),
  async () => {
    const paidId = paidIds[index % paidIds.length] ?? '';
    done.refunds.add((await client.payments.refund(paidId, { amount: 100 })).id);
  },
  async () => {
    const to = { phone: '+79161234567', bank_id: '100000000111' };
    done.payouts.add((await client.payouts.create({ amount: 100, ...to })).payout.id);
  },
]).flat();

const atOnce = 60;
const next = calls.values();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const call of next) await call();
  }),
);
console.log(
  JSON.stringify({
    node: process.versions.node,
    payments: done.payments.size,
    refunds: done.refunds.size,
    payouts: done.payouts.size,
  }),
);
