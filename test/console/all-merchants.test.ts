/**
 * What concerns all merchants of a service, on one of its own: a registry is uploaded and its
 * differences resolved, home shows whatever fails, exports wait for a table that is locked.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { noChromium } from '../browser/chromium.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { startOwn, type ServiceInUse } from '../support/plain-service.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { enter, escapeFrom, goTo, tabTo, typeInto } from './keys.ts';
import {
  planterOf,
  sheetOfRows,
  windows1251,
  yookassaPayments,
  yookassaRefunds,
  zipBomb,
} from './registry-files.ts';
import { comesTo, eventually } from '../support/eventually.ts';
import { openVisitor, type Visitor } from './visitor.ts';
import { isLong } from '../support/size.ts';

let service: ServiceInUse;
let database: pg.Client;
before(async () => {
  // Its jobs wait for the locked table, too, each on a connection.
  service = await startOwn({ DATABASE_POOL: '20' });
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database?.end();
  await service?.stop();
});

const header = 'reference,operation_id,kind,amount,currency,status,at,fee';
const lineOf = (index: number): string =>
  `unknown-${index},,payment,${1_000 + index},RUB,succeeded,2001-01-01T12:00:00Z,`;

describe('an operator', { skip: noChromium }, () => {
  test('uploads a registry, sees what differs, and resolves all of it with one reason', async () => {
    const cookie = await makeSession(service, 'finance');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/reconciliation?mode=test&tab=runs`);
    await page.getByRole('button', { name: 'Upload a registry' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload a registry' });
    const registry = [header, lineOf(1), lineOf(2)].join('\n');
    await dialog.getByLabel('File').setInputFiles({
      name: 'day.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(registry.replace('succeeded', 'nonsense')),
    });
    await dialog.getByLabel('Acquirer').selectOption('Simulated bank');
    await dialog.getByLabel('Operations from').fill('2001-01-01');
    await dialog.getByLabel('Before').fill('2001-01-03');
    await dialog.getByText('Line 2, “status”: an unknown status').waitFor();
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'day.csv', mimeType: 'text/csv', buffer: Buffer.from(registry) });
    await dialog.getByRole('button', { name: 'Upload a registry' }).click();
    await dialog.getByText(/2 lines are compared/).waitFor();
    await page.keyboard.press('Escape');

    // The service fetches registries of its own, too: this one has two lines.
    const row = page.getByRole('row', { name: /Differs.*Simulated bank.* 2 0 2 / });
    await row.waitFor();
    await row.click();
    await page.getByRole('cell', { name: 'Unknown here' }).nth(1).waitFor();
    await page.getByRole('cell', { name: /at the bank: ₽10\.01.*here: none/ }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Reconciliation 2' }).waitFor();
    await page.getByRole('button', { name: 'Choose all on this page' }).click();
    await page.getByRole('button', { name: 'Resolve 2' }).click();
    const resolve = page.getByRole('dialog', { name: 'Resolve 2' });
    await resolve.getByLabel('Resolution').fill('The acquirer took them back');
    await resolve.getByRole('button', { name: 'Resolve 2' }).click();
    await resolve.getByText('2 are resolved.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Nothing fits these filters' }).waitFor();
    await page.getByRole('button', { name: 'Resolved' }).click();
    await page.getByText('The acquirer took them back').first().waitFor();
    await page.getByRole('link', { name: 'Registries' }).click();
    await page.getByRole('row', { name: /Agrees.*Simulated bank.* 2 0 2 / }).waitFor();
    assert.deepEqual(complaints, []);
  });

  if (isLong)
    test('does the same without a mouse, and resolves a difference where home names it', async () => {
      const cookie = await makeSession(service, 'finance');
      const { page, complaints } = await openConsole(service.rest, cookie);
      await page.goto(`${service.rest}/console/?mode=test`);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      await goTo(page, 'reconcil', /Reconciliation/);
      await enter(page, page.getByRole('link', { name: 'Registries' }));
      // The browser hands file choosers over from some moment after it was asked to.
      const choosing = page.waitForEvent('filechooser');
      await enter(page, page.getByRole('button', { name: 'Upload a registry' }));
      const dialog = page.getByRole('dialog', { name: 'Upload a registry' });
      await tabTo(page, dialog.getByLabel('File'));
      await page.keyboard.press('Space');
      await (
        await choosing
      ).setFiles({
        name: 'keys.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from([header, lineOf(7).replaceAll('2001-01-01', '2001-02-02')].join('\n')),
      });
      // The field of a day takes its parts in the order of the machine's language.
      await tabTo(page, dialog.getByLabel('Operations from'));
      await page.keyboard.type('02022001');
      assert.equal(await dialog.getByLabel('Operations from').inputValue(), '2001-02-02');
      await tabTo(page, dialog.getByLabel('Before'));
      await page.keyboard.type('03032001');
      assert.equal(await dialog.getByLabel('Before').inputValue(), '2001-03-03');
      await enter(page, dialog.getByRole('button', { name: 'Upload a registry' }));
      await dialog.getByText(/1 lines are compared/).waitFor();
      await escapeFrom(page, dialog);
      await page.getByRole('row', { name: /Differs.*Simulated bank.* 1 0 1 / }).waitFor();

      await goTo(page, 'home', /Home/);
      const line = page
        .getByRole('list', { name: 'Needs attention' })
        .getByRole('listitem')
        .filter({ hasText: /A registry differs:/ });
      await enter(page, line.getByRole('button', { name: 'Resolve 1' }));
      const resolve = page.getByRole('dialog', { name: 'Resolve 1' });
      await typeInto(page, resolve.getByLabel('Resolution'), 'Taken back, too');
      await enter(page, resolve.getByRole('button', { name: 'Resolve 1' }));
      await resolve.getByText('1 is resolved.').waitFor();
      await escapeFrom(page, resolve);
      await line.waitFor({ state: 'detached' });
      assert.deepEqual(complaints, []);
    });

  test('corrects a balance once under one reference, and reads it as it was before', async () => {
    const merchant = await makeMerchant(service);
    const cookie = await makeSession(service, 'finance');
    const { page } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/balance?mode=test&merchant=${merchant.id}`);
    for (const outcome of ['It is booked.', 'This reference was booked before']) {
      await page.getByRole('button', { name: 'Record an adjustment' }).click();
      const dialog = page.getByRole('dialog', { name: 'Record an adjustment' });
      await dialog.getByLabel('Amount, RUB').fill('-12,50');
      await dialog.getByLabel('Reason').fill('A chargeback');
      await dialog.getByLabel('Reference').fill('chargeback-1');
      await dialog.getByRole('button', { name: 'Record an adjustment' }).click();
      await dialog.getByText(outcome).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('cell', { name: 'Adjustment' }).waitFor();
    assert.equal(await page.getByRole('cell', { name: 'Adjustment' }).count(), 1);
    await eventually(
      async () => (await merchant.call('GET', '/balance')).body.balance === -1_250,
      'the balance',
    );
    await page.getByLabel('Balance at a moment').fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText(/Balance ₽0\.00/).waitFor();
  });
});

const makeNamed = async (name: string): Promise<Merchant> => {
  const made = await makeMerchant(service);
  await database.query('update merchant set name = $2 where id = $1', [made.id, name]);
  return made;
};

/** So many webhooks of a merchant that have failed at one address, the last of them so long ago. */
const fail = (merchant: Merchant, url: string, count: number, minutes: number): Promise<unknown> =>
  database.query(
    `insert into webhook_delivery (merchant_id, id, event_id, webhook_event, shop_id, mode, subject_id, endpoint_id, lane, url, status, attempts, created_at)
     select $1, gen_random_uuid(), gen_random_uuid(), 'payment.succeeded', $2, 'test', gen_random_uuid(), $3, $3::uuid::text, $4, 'failed', 9,
       date_trunc('milliseconds', now()) - make_interval(mins => $6) - number * interval '10 milliseconds' from generate_series(1, $5::int) as number`,
    [merchant.id, merchant.shopId, randomUUID(), url, count, minutes],
  );

describe('what fails at one merchant', { skip: noChromium }, () => {
  test('leaves room on home for what fails at another', async () => {
    const loud = await makeMerchant(service);
    const quiet = await makeNamed('Quiet bakery');
    await fail(loud, 'https://loud.test/hook', 2_500, 30);
    await fail(quiet, 'https://quiet.test/hook', 1, 10);
    const cookie = await makeSession(service, 'viewer');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/?mode=test`);
    const lines = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const line = (url: string) => lines.filter({ hasText: url });
    await line('https://quiet.test/hook').filter({ hasText: 'Quiet bakery' }).waitFor();
    assert.match(await line('https://quiet.test/hook').innerText(), /Failed webhooks: 1\n/);
    assert.match(await line('https://loud.test/hook').innerText(), /Failed webhooks: 1,000\+/);
    const replay = line('https://quiet.test/hook').getByRole('button', { name: /Replay/ });
    assert.equal(await replay.getAttribute('aria-disabled'), 'true', 'a viewer sends nothing');
    await line('https://quiet.test/hook').getByRole('link').click();
    await page.waitForURL(new RegExp(`webhooks.*merchant=${quiet.id}`));
    await page.getByRole('row', { name: /quiet\.test/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /loud\.test/ }).count(), 0);
    assert.deepEqual(complaints, []);
  });
});

describe('a list over all merchants', { skip: noChromium }, () => {
  test('names the merchant of each row, and narrows to it; test and live are apart', async () => {
    const [one, other] = [await makeNamed('Tea room'), await makeNamed('Book shop')];
    for (const { call } of [one, other])
      await call('POST', '/payments', { amount: 7_700, order_id: 'of-all' });
    await database.query(
      `insert into alert (merchant_id, id, kind, mode, subject_id, detail, raised_at)
        values ($1, gen_random_uuid(), 'late_success', 'test', 's', 'd', now()), ($1, gen_random_uuid(), 'books_differ', null, 's', 'd', now() - interval '1 day'),
          ($2, gen_random_uuid(), 'late_success', 'live', 's', 'd', now())`,
      [one.id, other.id],
    );
    const cookie = await makeSession(service, 'viewer');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test`);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Book shop').first().waitFor();
    await row('Tea room').first().getByRole('button', { name: 'Tea room' }).click();
    await page.waitForURL(new RegExp(`merchant=${one.id}`));
    await row('Book shop').first().waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('columnheader', { name: 'Merchant' }).count(), 0);

    const chosen = page.getByRole('button', { name: 'Merchant: Tea room' });
    await enter(page, chosen);
    await page.getByRole('option', { name: 'All merchants', selected: true }).waitFor();
    await page.keyboard.type(other.id.slice(9, 23));
    await page.getByRole('option', { name: 'Book shop', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`merchant=${other.id}`));
    await page.getByRole('button', { name: 'Merchant: Book shop' }).waitFor();

    const needed = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    await go(page, `${service.rest}/console/?mode=test&merchant=${one.id}`);
    await needed.nth(1).waitFor();
    const texts = await needed.allInnerTexts();
    assert.equal(texts.length, 2);
    assert.match(texts[0] ?? '', /books/i, 'the critical one is first, although it is older');
    assert.equal(await page.getByRole('link', { name: 'Alerts 2' }).count(), 1);
    await go(page, `${service.rest}/console/?mode=live&merchant=${one.id}`);
    await page.getByRole('link', { name: 'Alerts 1' }).waitFor();
    // What belongs to no mode is in both.
    await comesTo(1, () => needed.count());
    assert.deepEqual(complaints, []);
  });
});

describe('an acquirer’s registry', { skip: noChromium }, () => {
  test('is read as YooKassa and T-Bank give it, and refused where it is not understood', async () => {
    const plant = planterOf(database, await makeMerchant(service));
    const [one, two, back] = [randomUUID(), randomUUID(), randomUUID()];
    await plant('yookassa', { id: randomUUID(), ref: one, amount: 123_456 }, []);
    await plant('yookassa', { id: randomUUID(), ref: two, amount: 200_000 }, [
      { id: randomUUID(), ref: back, amount: 50_000 },
    ]);
    // T-Bank gives a refund no id: two of them are of one amount.
    const order = randomUUID();
    const refunds = [1_000, 1_000, 3_456].map((amount) => ({ id: randomUUID(), amount }));
    await plant(
      'tbank',
      { id: order, ref: '4005001', amount: 123_456 },
      refunds.map((refund) => ({ ...refund, ref: refund.id })),
    );
    const cookie = await makeSession(service, 'finance');
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/reconciliation?mode=test&tab=runs`);
    const dialog = page.getByRole('dialog', { name: 'Upload a registry' });
    const send = dialog.getByRole('button', { name: 'Upload a registry' });
    const open = async (acquirer: string): Promise<void> => {
      await page.getByRole('button', { name: 'Upload a registry' }).click();
      await dialog.getByLabel('Acquirer').selectOption(acquirer);
    };
    const take = (name: string, buffer: Buffer): Promise<void> =>
      dialog.getByLabel('File').setInputFiles({ name, mimeType: '', buffer });
    const upload = async (lines: number): Promise<void> => {
      await send.click();
      await dialog.getByText(`${lines} lines are compared`).waitFor();
      await page.keyboard.press('Escape');
    };

    const lines = [
      `${one};1 234,56;RUB;1 191.35;36.01;01.03.2001 12:37:07;2202;Заказ №72;AC;7,20`,
      `${two};2000.00;RUB;1930.00;58.33;01.03.2001 15:43:01;;"Заказ; ""особый""";PC;11.67`,
      `${randomUUID()};8.00;RUB;7.66;0.28;01.03.2001 15:43:01;;;PC;0.06`,
    ];
    await open('YooKassa');
    await take('bomb.xlsx', zipBomb());
    await dialog.getByText('this is no table of CSV or XLSX').waitFor();
    const broken = [
      lines[0] ?? '',
      `${two};2000.005;RUB;;;31.02.2001 15:43:01;;;PC;`,
      '=1+1;8.00;XXX;7.66;0.28;01.03.2001 15:43:01;;;PC;0.06',
      `${two};8.00;RUB;7.66`,
    ];
    await take('broken.csv', windows1251(yookassaPayments(broken, 5)));
    for (const text of [
      'Line 5, “Сумма платежа”: no amount, such as 1 234.56',
      'Line 5, “Время платежа”: no date, such as 22.08.2026 10:00:00',
      'Line 6, “Валюта платежа”: no currency, such as RUB',
      'Line 7: not as many cells as the heading has',
      'Line 11: the file names another number of operations than it has',
    ])
      await dialog.getByText(text).waitFor();
    assert.ok(await send.isDisabled());

    await take('payments.csv', windows1251(yookassaPayments(lines)));
    await dialog.getByText('payment: 3 for ₽3,242.56').waitFor();
    assert.equal(await dialog.getByLabel('Operations from').inputValue(), '2001-03-01');
    assert.equal(await dialog.getByLabel('Before').inputValue(), '2001-03-02');
    await upload(3);
    await page.getByRole('row', { name: /Differs.*YooKassa.* 3 2 1 / }).waitFor();

    await open('YooKassa');
    const refund = `${back};${two};500.00;RUB;01.03.2001 20:00:00`;
    await take('refunds.csv', Buffer.from(`\uFEFF${yookassaRefunds([refund])}`));
    await dialog.getByText('refund: 1 for ₽500.00').waitFor();
    await upload(1);
    await page.getByRole('row', { name: /Agrees.*YooKassa.* 1 1 0 / }).waitFor();

    const names = ['Номер заказа', 'PaymentId', 'Тип операции', 'Сумма операции', 'Комиссия'];
    const row = (kind: string, amount: number) => [order, 4_005_001, kind, amount, 0, 36_951.5];
    await open('T-Bank');
    await take(
      'tbank.xlsx',
      sheetOfRows([
        ['Реестр операций за 01.03.2001'],
        [...names, 'Дата операции'],
        row('Оплата', 1_234.559_999_999_999_9),
        row('Возврат', -10),
        row('Возврат', -10),
        row('Возврат', 34.56),
        ['Итого', '', '', 1_180, 0],
      ]),
    );
    await dialog.getByText('payment: 1 for ₽1,234.56; refund: 3 for ₽54.56').waitFor();
    await upload(4);
    await page.getByRole('row', { name: /Agrees.*T-Bank.* 4 4 0 / }).waitFor();

    await open('T-Bank');
    const unknown = `Order\tWhen\tPaid\n${order}\t2001-03-01 12:00\t1234.56\n`;
    await take('unknown.csv', Buffer.from(unknown));
    await dialog.getByText('The heading of the table is not known').waitFor();
    for (const [field, option] of [
      ['Order number (our payment id)', `Order: ${order}`],
      ['Payment or refund', 'All are payments'],
      ['Amount', 'Paid: 1234.56'],
      ['Date, with or without time', 'When: 2001-03-01 12:00'],
    ] as const)
      await dialog.getByLabel(field).selectOption(option);
    await dialog.getByText('payment: 1 for ₽1,234.56').waitFor();
    await upload(1);
    await page.getByRole('row', { name: /Agrees.*T-Bank.* 1 1 0 / }).waitFor();
    assert.deepEqual(complaints, []);
  });
});

describe('exports at the same time', () => {
  /** Holds every page of payments until it is let go. */
  const holdPayments = async (): Promise<() => Promise<void>> => {
    await database.query('begin');
    await database.query('lock table payment in access exclusive mode');
    return async () => void (await database.query('rollback'));
  };

  const visitorOf = async (role: 'viewer' | 'admin'): Promise<Visitor> => {
    const visitor = openVisitor(service.rest);
    visitor.become(`console=${await makeSession(service, role)}`);
    return visitor;
  };

  const exportOf = (visitor: Visitor): Promise<Response> =>
    visitor.call('POST', '/console/exports', { operation: 'Payments', variables: {} });

  /** Begins three; gives the two that have a place, once the third has been refused. */
  const beginTwo = async (begin: () => Promise<Response>): Promise<Promise<Response>[]> => {
    const begun = [begin(), begin(), begin()];
    const refused = await Promise.any(
      begun.map(async (one, index) => ({ index, status: (await one).status })),
    );
    assert.equal(refused.status, 429);
    return begun.filter((_, index) => index !== refused.index);
  };

  test('are two of a person; who hangs up frees the place, and no other caller waits', async () => {
    const [visitor, other] = await Promise.all([visitorOf('admin'), visitorOf('viewer')]);
    const letGo = await holdPayments();
    const hangUp = new AbortController();
    const begin = () =>
      fetch(`${service.rest}/console/exports`, {
        method: 'POST',
        headers: {
          origin: service.rest,
          'x-console': 'test',
          'content-type': 'application/json',
          cookie: visitor.cookies(),
        },
        body: JSON.stringify({ operation: 'Payments', variables: {} }),
        signal: hangUp.signal,
      });
    try {
      const held = await beginTwo(begin);
      assert.equal((await other.ask('Viewer')).status, 200);
      const cut = Promise.all(held.map((one) => assert.rejects(one, { name: 'AbortError' })));
      hangUp.abort();
      await cut;
      await letGo();
      const later = await eventually(async () => {
        const answer = await exportOf(visitor);
        return answer.status === 200 && answer.text();
      }, 'a free place');
      assert.match(later, /amount/);
    } finally {
      await letGo();
    }
  });

  test('end with the session', async () => {
    const visitor = await visitorOf('viewer');
    const letGo = await holdPayments();
    try {
      const held = await beginTwo(() => exportOf(visitor));
      const cut = Promise.all(held.map((one) => assert.rejects(one)));
      const second = await visitorOf('viewer');
      second.become(visitor.cookies());
      assert.equal((await second.call('DELETE', '/console/session')).status, 204);
      await cut;
    } finally {
      await letGo();
    }
  });
});
