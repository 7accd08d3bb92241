/** What developers and operators do in the console, in a real browser, by the keyboard alone. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { confirmAtBank, payByCard } from '../support/buyer.ts';
import { send, signed } from '../support/cabinet.ts';
import { callRest, makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { comesTo, eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

const press = async (button: Locator): Promise<void> => {
  await button.focus();
  await button.press('Enter');
};

describe('developers', { skip: noChromium }, () => {
  test('issue a key that may do little, which is shown once, and replace it', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/developers?mode=test`);
    await press(page.getByRole('button', { name: 'Issue a key' }));
    const dialog = page.getByRole('dialog', { name: 'Issue a key' });
    await dialog.getByLabel('Name').fill('Shop backend');
    await dialog.getByLabel('Expires').selectOption('90');
    await dialog.getByLabel(/read lists/).press('Space');
    await press(dialog.getByRole('button', { name: 'Issue a key' }));
    await press(dialog.getByRole('button', { name: 'Copy' }));
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(key, /^sk_test_/);
    // What is shown once is not lost by a click beside it or by a key.
    await page.mouse.click(30, 700);
    await page.keyboard.press('Escape');
    await dialog.getByText(key).waitFor();
    await press(dialog.getByRole('button', { name: 'Close' }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: /read lists and the ledger/ }).waitFor();
    assert.ok(!(await page.content()).includes(key), 'the secret has left the page');

    const asked = await callRest({ rest: service.rest, key }, 'GET', '/balance');
    assert.equal(asked.body.error.code, 'scope_required');
    const paid = await callRest({ rest: service.rest, key }, 'POST', '/payments', { amount: 100 });
    assert.equal(paid.status, 201);

    const row = page.getByRole('row', { name: /Shop backend/ });
    await row.getByText('a admin').waitFor();
    await press(row.getByRole('button', { name: 'Replace' }));
    const replacing = page.getByRole('dialog', { name: 'Replace' });
    await replacing.getByLabel('The old key works for').selectOption('it stops at once');
    await press(replacing.getByRole('button', { name: 'Replace' }));
    const fresh = (await replacing.getByText(/^sk_test_\w+$/).textContent()) ?? '';
    await press(replacing.getByRole('button', { name: 'Close' }));
    await row.getByText('Expired').waitFor();
    const statusOf = async (of: string): Promise<number> =>
      (await callRest({ rest: service.rest, key: of }, 'GET', '/payments')).status;
    await comesTo(401, () => statusOf(key));
    assert.equal(await statusOf(fresh), 200);
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test('find a refused call, and the call that created a payment from the payment itself', async () => {
      const merchant = await makeMerchant(service);
      const named = { 'x-request-id': 'refused-7', 'idempotency-key': 'key-of-nothing' };
      await merchant.call('POST', '/payments', { amount: -5, order_id: 'nobody' }, named);
      const { body } = await merchant.call('POST', '/payments', { amount: 4_200, order_id: 'o-1' });
      await merchant.call('POST', '/links', { amount: 100 });
      const cookie = await makeSession(service, 'viewer', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/developers?mode=test&tab=requests`);
      const rows = page.getByRole('table', { name: 'Request' }).locator('tbody tr');
      await comesTo(3, () => rows.count());
      const shows = (count: number, text: RegExp): Promise<boolean> =>
        eventually(async () => {
          const texts = await rows.allInnerTexts();
          return texts.length === count && (count === 0 || text.test(texts[0] ?? ''));
        }, `${count} calls, of which the first is ${text.source}`);
      await press(page.getByRole('button', { name: 'Refused' }));
      await shows(1, /400[^]*POST \/v1\/public\/payments[^]*bad_request/);
      await press(page.getByRole('button', { name: 'All', exact: true }));
      await page.getByLabel('Exact status').fill('201');
      await comesTo(2, () => rows.count());
      await page.getByLabel('Exact status').fill('');
      await comesTo(3, () => rows.count());
      const found = [
        ['refused-7', 1, /400/],
        ['key-of-nothing', 1, /400/],
        ['bad_request', 1, /400/],
        ['/links', 1, /201/],
        [body.payment.id, 1, /201/],
        [merchant.key, 3, /201/],
        ['nothing-like-it', 0, /^$/],
      ] as const;
      for (const [text, count, first] of found) {
        const field = page.getByRole('searchbox');
        await field.fill(text);
        await field.press('Enter');
        await shows(count, first);
        assert.ok(!page.url().includes(merchant.key), 'a secret is not for an address');
      }

      await go(
        page,
        `${service.rest}/console/payments/${merchant.id}/${body.payment.id}?mode=test`,
      );
      await press(page.getByRole('link', { name: 'The call that created it' }));
      await comesTo(1, () => rows.count());
      await rows.first().click();
      const call = page.getByRole('dialog', { name: 'POST /v1/public/payments' });
      await call.getByText('"amount": 4200').first().waitFor();
      await press(call.getByRole('link', { name: 'Payment' }));
      await page.waitForURL(new RegExp(body.payment.id));
      assert.deepEqual(complaints, []);
    });

  if (isLong)
    test('make a test payment with its outcome, and a payment link', async () => {
      const merchant = await makeMerchant(service);
      const cookie = await makeSession(service, 'support', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/payments?mode=test`);
      await press(page.getByRole('button', { name: 'Make a test payment' }));
      const dialog = page.getByRole('dialog', { name: 'Make a test payment' });
      await dialog.getByLabel(/Amount/).fill('1 234,50');
      await dialog.getByLabel('Method').selectOption('cards');
      await dialog.getByLabel(/Outcome/).selectOption('insufficient_funds');
      await dialog.getByLabel(/Hold first/).press('Space');
      await dialog.getByLabel('With a receipt').press('Space');
      await dialog.getByLabel('E-mail for the receipt').fill('buyer@example.com');
      await press(dialog.getByRole('button', { name: 'Make a test payment' }));
      await dialog.getByText(/The payment P-\d+ is there/).waitFor();
      const url = await dialog.getByRole('link', { name: 'Open its page' }).getAttribute('href');
      await payByCard(url ?? '');
      const { body } = await merchant.call('GET', '/payments');
      const [made] = body.items;
      assert.deepEqual(
        [made.amount, made.capture, made.method, body.items.length],
        [123_450, 'manual', 'cards', 1],
      );
      await comesTo('insufficient_funds', async () => {
        const answer = await merchant.call('GET', `/payments/${made.id}`);
        return answer.body.metadata?.failure_code;
      });
      await press(dialog.getByRole('button', { name: 'Close' }));

      await go(page, `${service.rest}/console/paylinks?mode=test`);
      await press(page.getByRole('button', { name: 'New payment link' }));
      const form = page.getByRole('dialog', { name: 'New payment link' });
      await form.getByLabel(/^Amount/).fill('2500');
      await form.getByLabel('Description').fill('Cakes');
      await form.getByLabel('Can be paid').selectOption('endless');
      await press(form.getByRole('button', { name: 'New payment link' }));
      await press(form.getByRole('button', { name: 'Copy' }));
      const address = await page.evaluate<string>('navigator.clipboard.readText()');
      assert.equal((await fetch(address)).status, 200);
      await press(form.getByRole('button', { name: 'Close' }));
      await page.getByRole('cell', { name: 'Cakes' }).waitFor();
      const links = await merchant.call('GET', '/links');
      assert.deepEqual(
        links.body.items.map(({ url: at, amount, uses }: any) => [at, amount, uses]),
        [[address, 250_000, null]],
      );
      assert.deepEqual(complaints, []);
    });

  if (isLong)
    test('see what live mode still lacks, until it is there', async () => {
      const merchant = await makeMerchant(service);
      const cookie = await makeSession(service, 'admin', merchant.id);
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/developers?mode=test&tab=live`);
      const need = (name: string) =>
        page.getByRole('list', { name: 'What live mode needs' }).locator('li', { hasText: name });
      await need('A test payment succeeded').getByText('Missing').waitFor();
      await need('There is an endpoint').getByText('Missing').waitFor();
      const { body } = await merchant.call('POST', '/payments', { amount: 100, method: 'cards' });
      await payByCard(body.payment_url);
      await need('A test payment succeeded').getByText('Done').waitFor();
      await press(need('There is an endpoint').getByRole('link', { name: 'Open' }));
      await page.getByRole('button', { name: 'Add an endpoint' }).waitFor();
      assert.deepEqual(complaints, []);
    });

  test('require signatures and make a new secret, shown once, which ends the old one', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/developers?mode=test&tab=security`);
    const secret = async (): Promise<string> => {
      await press(page.getByRole('button', { name: 'New signing secret' }));
      const dialog = page.getByRole('dialog', { name: 'New signing secret' });
      await dialog.getByText('The old secret stops at once').waitFor();
      await press(dialog.getByRole('button', { name: 'New signing secret' }));
      await dialog.getByText('This secret is shown once. Copy it now.').waitFor();
      await press(dialog.getByRole('button', { name: 'Copy' }));
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      await press(dialog.getByRole('button', { name: 'Close' }));
      await dialog.waitFor({ state: 'detached' });
      assert.ok(copied.length > 20 && !(await page.content()).includes(copied), 'it has left');
      return copied;
    };
    const old = await secret();
    await press(page.getByRole('button', { name: 'Require signatures' }));
    const dialog = page.getByRole('dialog', { name: 'Require signatures' });
    await press(dialog.getByRole('button', { name: 'Require signatures' }));
    await dialog.getByText('It is in force.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Required: each request is signed over its body.').waitFor();

    const codeWith = async (signature: string | null): Promise<number | string> => {
      const headers = { 'content-type': 'application/json' };
      const { status, code } = await send({
        url: `${service.rest}/v1/public/payments`,
        key: merchant.key,
        method: 'POST',
        body: '{"amount":100}',
        headers: signature === null ? headers : { ...headers, 'x-psp-signature': signature },
      });
      return code || status;
    };
    const by = (key: string): string => signed(key, '{"amount":100}');
    await comesTo('signature_required', () => codeWith(null));
    assert.equal(await codeWith(by(old)), 201);
    const fresh = await secret();
    assert.notEqual(fresh, old);
    await comesTo('invalid_signature', () => codeWith(by(old)));
    assert.equal(await codeWith(by(fresh)), 201);
    assert.deepEqual(complaints, []);
  });

  test('let keys work from their addresses alone, and from any again', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/developers?mode=test&tab=security`);
    const field = page.getByLabel(/Addresses and CIDR blocks/);
    const save = async (entries: string, consequence: RegExp, outcome: RegExp): Promise<void> => {
      await field.fill(entries);
      await press(page.getByRole('button', { name: 'Save the addresses' }));
      const dialog = page.getByRole('dialog', { name: 'Save the addresses' });
      await dialog.getByText(consequence).waitFor();
      await press(dialog.getByRole('button', { name: 'Save the addresses' }));
      await dialog.getByText(outcome).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    const codeOf = async (): Promise<number | string> => {
      const { status, body } = await merchant.call('GET', '/balance');
      return body.error?.code ?? status;
    };
    await save('10.0.0.0/33', /only from these 1\./, /Not done: .*10\.0\.0\.0\/33/);
    assert.equal(await codeOf(), 200, 'nothing was changed');
    await save('10.0.0.0/8\n203.0.113.7', /only from these 2\./, /The addresses are in force\./);
    await comesTo('ip_not_allowed', codeOf);
    await page.reload();
    assert.equal(await field.inputValue(), '10.0.0.0/8\n203.0.113.7');
    await save('', /from any address again/, /The addresses are in force\./);
    await comesTo(200, codeOf);
    assert.deepEqual(complaints, []);
  });

  test('give a shop a clock and slide it to the next charge, which then happens', async () => {
    const merchant = await makeMerchant(service);
    const { body } = await merchant.call('POST', '/subscriptions', {
      amount: 99_000,
      customer_ref: 'buyer-of-the-clock',
      plan_name: 'Tea each month',
    });
    await payByCard(body.pay_url);
    await confirmAtBank(body.pay_url);
    const cookie = await makeSession(service, 'support', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/subscriptions?mode=test`);
    await page.getByRole('cell', { name: 'Active' }).waitFor();

    await go(page, `${service.rest}/console/developers?mode=test&tab=clock`);
    await press(page.getByRole('button', { name: 'Add a test clock' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Add a test clock' }));
    await page.getByText('The clock is there.').waitFor();
    await page.keyboard.press('Escape');
    await page
      .getByText(/charge of the subscription Tea each month/)
      .first()
      .waitFor();
    const slider = page.getByRole('slider', { name: 'Moment' });
    if (await slider.isEnabled()) await slider.press('End');
    await press(page.getByRole('button', { name: 'Advance to here' }));
    const dialog = page.getByRole('dialog', { name: 'Advance to here' });
    await dialog.getByText(/It cannot go back/).waitFor();
    await press(dialog.getByRole('button', { name: 'Advance to here' }));
    await dialog.getByText('The clock is on its way.').waitFor();
    await eventually(async () => {
      const answer = await merchant.call('GET', '/payments');
      return answer.body.items.filter((one: any) => one.status === 'succeeded').length >= 2;
    }, 'the charge of the next period');
    assert.deepEqual(complaints, []);
  });
});

describe('operators', { skip: noChromium }, () => {
  test('block a customer, who is refused, and let the customer through again', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(
      `${service.rest}/console/policies?mode=test&tab=blocks&merchant=${merchant.id}`,
    );
    await press(page.getByRole('button', { name: 'Block', exact: true }));
    const dialog = page.getByRole('dialog', { name: 'Block' });
    await dialog.getByLabel('Type').selectOption('customer');
    await dialog.getByLabel('Value').fill('a-thief');
    await dialog.getByLabel('Reason').fill('chargebacks');
    await dialog.getByLabel('Reason').press('Enter');
    assert.equal(await page.getByText('It is in force.').count(), 0, 'Enter confirms nothing');
    await press(dialog.getByRole('button', { name: 'Block', exact: true }));
    await dialog.getByText('It is in force.').waitFor();
    const pay = () => merchant.call('POST', '/payments', { amount: 100, customer_id: 'a-thief' });
    await eventually(async () => (await pay()).body.error?.code === 'aml_blocked', 'the refusal');

    await page.keyboard.press('Escape');
    await press(page.getByRole('button', { name: 'Unblock' }));
    await press(page.getByRole('dialog').getByRole('button', { name: 'Unblock' }));
    await eventually(async () => (await pay()).status === 201, 'the payment');
    assert.deepEqual(complaints, []);
  });

  test("switch a merchant's live mode on, and a person of the merchant may not", async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'admin');
    const { page, leave } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/merchants/${merchant.id}?mode=test`);
    const live = page.getByText('Live', { exact: true });
    const before = await live.count();
    await press(page.getByRole('button', { name: /Switch live mode/ }));
    await press(page.getByRole('dialog').getByRole('button', { name: /Switch live mode/ }));
    await page.getByText('It is in force.').waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => (await live.count()) !== before, 'the new state');
    await leave();

    const own = await makeSession(service, 'admin', merchant.id);
    const cabinet = await openConsole(service.rest, own);
    await cabinet.page.goto(`${service.rest}/console/merchants/${merchant.id}?mode=test`);
    const button = cabinet.page.getByRole('button', { name: /Switch live mode/ });
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
  });
});
