/**
 * What happens between the snippets of a guide: a buyer pays, a bank answers, an operator does
 * something. The lines `<!-- run: ... -->` of the texts name these.
 */
import assert from 'node:assert/strict';
import { signWebhook } from '../../sdk/src/index.ts';
import { chooseAndPay, pay, useLink } from '../../sdk/src/psp/trigger.ts';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { askGraph, type Merchant } from '../support/merchant.ts';
import { eventually } from '../support/eventually.ts';

/** Whose shop it is, and where. */
export interface Scene {
  readonly merchant: Merchant;
  readonly graph: string;
  /** Where a program of the guide listens, and the secret that it expects. */
  readonly port: number;
  readonly webhookSecret: string;
}

/** What an act leaves: a value for a placeholder, or nothing. */
type Act = (scene: Scene, ...args: readonly string[]) => Promise<string | undefined>;

/** Waits until no bank is asked anything. */
const settle = async ({ merchant: { call } }: Scene): Promise<undefined> => {
  const quiet = async (path: string): Promise<boolean> =>
    (await call('GET', path)).body.items.length === 0;
  await eventually(
    async () =>
      (await quiet('/payments?status=processing')) &&
      (await quiet('/refunds?status=pending')) &&
      (await quiet('/payouts?status=pending')),
    'the answers of the simulated bank',
  );
};

export const acts: Readonly<Record<string, Act>> = {
  settle,
  /** A buyer pays on the page of a payment by SBP. */
  pay: async (scene, url = '') => {
    await pay(url, 'sbp');
    return settle(scene);
  },
  /** A buyer pays by card. */
  card: async (scene, url = '') => {
    await pay(url, 'cards');
    return settle(scene);
  },
  /** A buyer chooses SBP and pays. */
  choose: async (scene, url = '') => {
    await chooseAndPay(url);
    return settle(scene);
  },
  /** A payment that has been paid; gives its id. */
  paid: async (scene, amount = '') => {
    const { merchant } = scene;
    const body = { amount: Number(amount), method: 'sbp' };
    const { body: made } = await merchant.call('POST', '/payments', body);
    await pay(made.payment_url, 'sbp');
    await settle(scene);
    const { body: payment } = await merchant.call('GET', `/payments/${made.payment.id}`);
    assert.equal(payment.status, 'succeeded');
    return payment.id;
  },
  /** A buyer saves a card, and confirms at the bank. */
  bind: async (scene, url = '') => {
    await payByCard(url);
    await confirmAtBank(url);
    await eventually(async () => {
      const { body } = await scene.merchant.call('GET', '/tokens');
      return body.items.every(({ status }: { readonly status: string }) => status !== 'pending');
    }, 'the saved card');
    return settle(scene);
  },
  /** A buyer pays at a link. */
  link: async (scene, url = '') => {
    await chooseAndPay(await useLink(url));
    return settle(scene);
  },
  /** The cash register has answered. */
  registered: async ({ merchant: { call } }) => {
    const waiting = async (): Promise<boolean> =>
      (await call('GET', '/receipts?status=pending')).body.items.length > 0;
    await eventually(async () => !(await waiting()), 'the receipts');
    return undefined;
  },
  /** The test clock has arrived. */
  clock: async ({ merchant, graph }) => {
    const query =
      'query ($m: ID!, $s: ID!) { testClock(merchantId: $m, shopId: $s) { advancingTo } }';
    const variables = { m: merchant.id, s: merchant.shopId };
    await eventually(async () => {
      const { testClock } = await askGraph({ graph }, query, variables);
      assert.ok(testClock, 'there is no clock');
      return testClock.advancingTo === null;
    }, 'the clock');
    return undefined;
  },
  /** A webhook comes: a genuine one is taken, another one refused. */
  deliver: async ({ port, webhookSecret }) => {
    const body = JSON.stringify({ id: 'evt_1', event: 'payment.succeeded', data: { id: 'x' } });
    const deliver = async (secret: string): Promise<number> => {
      const headers = { 'x-psp-signature': await signWebhook(body, secret) };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    };
    const taken = () => deliver(webhookSecret).catch(() => null);
    assert.equal(await eventually(taken, 'the receiver'), 200);
    assert.equal(await deliver('whs_another'), 400);
    return undefined;
  },
};
