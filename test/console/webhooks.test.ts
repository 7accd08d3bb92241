/** Webhooks, alerts, the audit log, kept views and sessions, as people use them in a browser. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import {
  expectedSignature,
  makeMerchant,
  openReceiver,
  type Merchant,
} from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { comesTo, eventually } from '../support/eventually.ts';
import { isLong } from '../support/size.ts';
import { openVisitor } from './visitor.ts';

let service: ServiceInUse;
let database: pg.Client;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database?.end();
  await service?.stop();
});

const openAt = async (path: string, merchantId: string | null = null): Promise<Page> => {
  const cookie = await makeSession(service, 'admin', merchantId);
  const opened = await openConsole(service.rest, cookie);
  await opened.page.goto(`${service.rest}/console/${path}`);
  return opened.page;
};

const pay = async (merchant: Merchant, orderId: string): Promise<void> => {
  const { body } = await merchant.call('POST', '/payments', {
    amount: 120_000,
    order_id: orderId,
    method: 'cards',
  });
  await payByCard(body.payment_url);
};

const noCurl =
  spawnSync('bash', ['-c', 'curl --version']).status === 0 ? false : 'there is no bash with curl';

describe('webhooks', { skip: noChromium }, () => {
  test(
    'come live; one shows its bytes, and its command sends them again so that they verify',
    { skip: noCurl },
    async () => {
      const merchant = await makeMerchant(service);
      const receiver = await openReceiver();
      const secret = await merchant.endpoint(receiver.url);
      const page = await openAt('webhooks?mode=test', merchant.id);
      await page.getByText('nothing in 24 hours').waitFor();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText(/The receiver answered 200 in/).waitFor();
      await pay(merchant, 'order-of-webhooks');
      await page
        .getByRole('row', { name: /payment\.succeeded/ })
        .first()
        .click();
      const drawer = page.getByRole('dialog');
      await drawer.getByRole('button', { name: 'Raw' }).click();
      const sent = await eventually(
        () => receiver.received.find(({ body }) => body.event === 'payment.succeeded'),
        'the webhook',
      );
      await drawer.locator('pre', { hasText: sent.raw }).first().waitFor();
      const command = await drawer.locator('pre', { hasText: 'curl -i' }).textContent();
      const before = receiver.received.length;
      // Without the machine's settings: a proxy would be asked for this address, too.
      await promisify(execFile)('bash', ['-c', (command ?? '').replace('whs_...', secret)], {
        env: { PATH: process.env['PATH'] },
      });
      assert.equal(receiver.received.length, before + 1);
      const again = receiver.received.at(-1);
      assert.equal(again?.raw, sent.raw);
      assert.equal(
        again?.headers['x-psp-signature'],
        expectedSignature(secret, sent.raw, String(again?.headers['x-psp-timestamp'])),
      );
      assert.equal(again?.headers['x-psp-event-id'], sent.headers['x-psp-event-id']);
      await receiver.close();
    },
  );

  if (isLong)
    test('that wait for their next attempt are sent now, one or all of an endpoint', async () => {
      const merchant = await makeMerchant(service);
      let isUp = false;
      const receiver = await openReceiver(() => (isUp ? 200 : 503));
      await merchant.endpoint(receiver.url);
      for (const order of ['one', 'two', 'three']) await pay(merchant, order);
      const pendingAfter = (attempts: number) => async (): Promise<number> => {
        const { rows } = await database.query(
          `select count(*)::int from webhook_delivery
          where merchant_id = $1 and status = 'pending' and attempts >= $2 and lease_until is null`,
          [merchant.id, attempts],
        );
        return rows[0].count;
      };
      await comesTo(3, pendingAfter(1));
      isUp = true;
      const page = await openAt('webhooks?mode=test', merchant.id);
      await page.locator('tbody tr').first().click();
      await page.getByRole('dialog').getByRole('button', { name: 'Retry now' }).click();
      await comesTo(2, pendingAfter(0));
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Retry pending now' }).click();
      await page.getByText('Being tried now: 2.').waitFor();
      await comesTo(0, pendingAfter(0));
      const off = page.getByRole('button', { name: /^Retry pending now/, disabled: true });
      await off.waitFor();
      await receiver.close();
    });

  test('that failed are counted before they are sent again', async () => {
    const [merchant, stranger] = await Promise.all([makeMerchant(service), makeMerchant(service)]);
    const receivers = await Promise.all([openReceiver(), openReceiver()]);
    await merchant.endpoint(receivers[0].url);
    await stranger.endpoint(receivers[1].url);
    for (const one of [merchant, merchant, stranger]) await pay(one, randomUUID());
    const succeeded = ({ received }: (typeof receivers)[number]): number =>
      received.filter(({ body }) => body.event === 'payment.succeeded').length;
    await eventually(
      () => succeeded(receivers[0]) === 2 && succeeded(receivers[1]) === 1,
      'the webhooks',
    );
    const failed = await eventually(async () => {
      const { rowCount } = await database.query(
        `update webhook_delivery set status = 'failed', created_at = created_at - interval '2 days'
          where merchant_id = any($1) and status = 'delivered'`,
        [[merchant.id, stranger.id]],
      );
      const { rows } = await database.query(
        `select count(*) filter (where merchant_id = $1 and status = 'failed')::int as failed,
          count(*) filter (where status <> 'failed')::int as others from webhook_delivery where merchant_id = any($2)`,
        [merchant.id, [merchant.id, stranger.id]],
      );
      return rowCount === 0 && rows[0].others === 0 ? (rows[0].failed as number) : null;
    }, 'failed deliveries');
    // A delivery is found beside its event, by the moment of both.
    await database.query(
      `update event set created_at = created_at - interval '2 days' where merchant_id = any($1)`,
      [[merchant.id, stranger.id]],
    );
    const page = await openAt('settings?mode=test', merchant.id);
    await page.getByLabel('Time zone').selectOption('Asia/Vladivostok');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('link', { name: `Failed webhooks: ${failed}` }).click();
    await page.getByRole('button', { name: `Replay ${failed} failed ...` }).click();
    const { rows: oldest } = await database.query<{ there: string }>(
      `select to_char(min(created_at) at time zone 'Asia/Vladivostok', 'YYYY-MM-DD"T"HH24:MI') as there
        from webhook_delivery where merchant_id = $1`,
      [merchant.id],
    );
    assert.equal(await page.getByLabel('Of events since').inputValue(), oldest[0]?.there);
    await page.getByText(`${failed} failed webhooks will be resent`).waitFor();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText(`${failed} are being resent.`).waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    const off = page.getByRole('button', { name: /^Replay failed/ });
    await off.waitFor();
    assert.equal(await off.getAttribute('aria-disabled'), 'true');
    const { rows } = await database.query(
      'select status from webhook_delivery where merchant_id = $1',
      [stranger.id],
    );
    assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['failed']));
    for (const receiver of receivers) await receiver.close();
  });
});

describe('an alert', { skip: noChromium }, () => {
  test('is narrowed by urgency, given to oneself, and found among one’s own', async () => {
    const merchant = await makeMerchant(service);
    for (const [kind, fields] of [
      ['books_differ', { check: 'balance_adds_up', currency: 'RUB', found: '123400' }],
      ['bank_echo_differs', {}],
      ['late_success', {}],
    ])
      await database.query(
        `insert into alert (merchant_id, id, kind, mode, subject_id, detail, fields, raised_at)
          values ($1, gen_random_uuid(), $2, 'test', $3, 'English of the service', $4, now())`,
        [merchant.id, kind, randomUUID(), fields],
      );
    const page = await openAt(`alerts?merchant=${merchant.id}`);
    const rowOf = (text: RegExp) => page.getByRole('row').filter({ hasText: text });
    const canWait = rowOf(/A bank took money for a payment that had ended/);
    await canWait.waitFor();
    const mine = rowOf(/Sums of the books do not agree/);
    await mine.getByRole('strong').click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('balances against postings').waitFor();
    await drawer.getByText('₽1,234.00').waitFor();
    assert.doesNotMatch(await drawer.innerText(), /English of the service/);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save the whole list as CSV' }).waitFor();
    await page.getByRole('button', { name: 'Critical', exact: true }).click();
    await canWait.waitFor({ state: 'detached' });
    await mine.getByLabel('Assignee').selectOption('a admin');
    const assigned = await eventually(async () => {
      const { rows } = await database.query(
        `select actor, after ->> 'assignee' as assignee from audit_entry where merchant_id = $1 and action = 'alert.assign'`,
        [merchant.id],
      );
      return rows.length > 0 && rows;
    }, 'the entry of the audit log');
    assert.deepEqual(assigned, [{ actor: 'a admin', assignee: 'a admin' }]);
    await page.getByRole('button', { name: 'Mine' }).click();
    await page.waitForURL(/assignee=a(\+|%20)admin/);
    await rowOf(/A bank answers for another operation/).waitFor({ state: 'detached' });
    await mine.waitFor();
  });
});

describe('a view', { skip: noChromium }, () => {
  test('is kept by name for the person, opened again, and removed', async () => {
    const merchant = await makeMerchant(service);
    const page = await openAt('payments?mode=test&status=failed', merchant.id);
    await page.getByRole('button', { name: 'Save as view' }).click();
    await page.getByLabel('Name of the view').fill('What failed');
    await page.getByLabel('Name of the view').press('Enter');
    await page.getByRole('link', { name: 'What failed' }).waitFor();
    const elsewhere = await openAt('payments?mode=test', merchant.id);
    await elsewhere.getByRole('link', { name: 'What failed' }).click();
    await elsewhere.waitForURL(/status=failed/);
    await elsewhere.getByRole('button', { name: 'Remove the view What failed' }).click();
    await elsewhere.getByRole('link', { name: 'What failed' }).waitFor({ state: 'detached' });
  });
});

describe('who is logged in', { skip: noChromium }, () => {
  test('is listed, and a session is ended by the person menu’s page', async () => {
    const merchant = await makeMerchant(service);
    const other = await makeSession(service, 'viewer', merchant.id);
    const page = await openAt('audit', merchant.id);
    await page.getByRole('button', { name: /^Person/ }).click();
    await page.getByRole('menuitem', { name: 'People' }).click();
    const invite = page.getByRole('dialog', { name: 'Invite a person' });
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await invite.getByLabel('E-mail address').fill('Olga@example.com');
    await invite.getByLabel('Role').selectOption('Finance');
    await invite.getByRole('button', { name: 'Invite a person' }).click();
    const link = await invite.getByText(/\/console\/enter#/).innerText();
    await invite.getByRole('button', { name: 'Close' }).last().click();
    const waiting = page.getByRole('table', { name: 'Invited, not yet here' });
    await waiting.getByRole('row', { name: /olga@example\.com.*Finance/ }).waitFor();
    const olga = openVisitor(service.rest);
    assert.equal(await olga.enter(link), 201);
    const { viewer } = (await olga.ask('Viewer')).data;
    assert.deepEqual(
      [viewer.subject, viewer.role, viewer.merchantId],
      ['olga@example.com', 'finance', merchant.id],
    );
    assert.equal(await openVisitor(service.rest).enter(link), 401, 'it lets in once');
    const row = page.getByRole('row', { name: /a viewer/ });
    await row.getByRole('button', { name: 'End session' }).click();
    const dialog = page.getByRole('dialog', { name: 'End session' });
    await dialog.getByRole('button', { name: 'End session' }).click();
    await dialog.getByText('The session is ended.').waitFor();
    const answer = await fetch(`${service.rest}/console/session`, {
      headers: { cookie: `console=${other}` },
    });
    assert.equal(answer.status, 401);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await row.waitFor({ state: 'detached' });
    await go(page, `${service.rest}/console/audit`);
    const ended = page.getByRole('cell', { name: 'Ended a session of the console' });
    await ended.waitFor();
    assert.ok((await page.locator('tbody tr').count()) > 1, 'there are others beside it');
    await page.getByLabel('Action', { exact: true }).selectOption('Ended a session of the console');
    await page.waitForURL(/action=console_session\.end/);
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' });
    assert.equal(await ended.count(), 1);
    await ended.click();
    await page.getByRole('dialog').getByText('console_session.end').waitFor();
    const changes = page.getByRole('dialog').getByRole('table', { name: 'Before → After' });
    await changes.getByRole('row', { name: /subject a viewer/ }).waitFor();
    await go(page, `${service.rest}/console/audit?action=merchant.create`);
    await page
      .getByRole('cell', { name: /^Merchant Merchant$/ })
      .first()
      .waitFor();
  });
});
