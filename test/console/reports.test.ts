/** Reports: the chart with its axes, read by the keyboard too, and the closing of a month. */
import { readFile } from 'node:fs/promises';
import { strFromU8, unzipSync } from 'fflate';
import { parse } from 'csv-parse/sync';
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import pg from 'pg';
import { noChromium } from '../browser/chromium.ts';
import { payByCard } from '../support/buyer.ts';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { markedPlaces, roundMost } from '../../console/src/reports/chart-numbers.ts';
import { go, makeSession, openConsole } from './console-window.ts';
import { comesTo, eventually } from '../support/eventually.ts';

let service: ServiceInUse;
before(async () => {
  if (noChromium) return;
  service = await openPlainService();
});
after(() => service?.stop());

describe('an axis', () => {
  test('ends at a round even number', () => {
    const ends = [1, 2, 3, 9, 10, 11, 21, 99, 1_234, 8_001].map(roundMost);
    assert.deepEqual(ends, [2, 2, 4, 10, 10, 20, 40, 100, 2_000, 10_000]);
  });

  test('names the first, the middle and the last part, each once', () => {
    assert.deepEqual([0, 1, 2, 30].map(markedPlaces), [[], [0], [0, 1], [0, 14, 29]]);
  });
});

describe('the chart', { skip: noChromium }, () => {
  test('says the numbers of a bar as the arrow keys come to it', async () => {
    const merchant = await makeMerchant(service);
    for (const order_id of ['order-1', 'order-2', 'order-3'])
      await merchant.call('POST', '/payments', { amount: 100, order_id, method: 'cards' });
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    const chart = page.getByRole('img', { name: /Payments, 30 days/ });
    const readout = page.locator('.chart-readout');
    await eventually(async () => {
      await page.goto(`${service.rest}/console/reports?mode=test`);
      await chart.focus();
      return /(^|\s)3$/.test((await readout.innerText()).trim());
    }, 'the totals');
    const [last, moments] = [await readout.innerText(), page.locator('.chart-moments span')];
    assert.equal(await moments.count(), 3);
    await page.keyboard.press('ArrowLeft');
    assert.match(await readout.innerText(), /\s0$/);
    await page.keyboard.press('End');
    assert.equal(await readout.innerText(), last);
    assert.deepEqual(complaints, []);
  });
});

describe('totals', { skip: noChromium }, () => {
  test('of any days have money by shop, method and bank, their sum, and the days before beside them', async () => {
    const merchant = await makeMerchant(service);
    for (const amount of [10_000, 30_000]) {
      const order = { amount, order_id: `order-${amount}`, method: 'cards' };
      const { body } = await merchant.call('POST', '/payments', order);
      await payByCard(body.payment_url);
    }
    const database = new pg.Client({ connectionString: service.databaseUrl });
    await database.connect();
    try {
      await eventually(async () => {
        const { rows } = await database.query(
          'select sum(moved)::int as moved from hourly_total where merchant_id = $1 and shop_id = $2',
          [merchant.id, merchant.shopId],
        );
        return rows[0].moved === 40_000;
      }, 'the totals');
      // The same 3 days before, and half as much.
      await database.query(
        `insert into hourly_total select (jsonb_populate_record(total, jsonb_build_object(
            'hour', hour - interval '72 hours', 'amount_succeeded', 20000, 'moved', 20000))).*
          from hourly_total as total where merchant_id = $1 and kind = 'payment'`,
        [merchant.id],
      );
    } finally {
      await database.end();
    }
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    const dayOf = (ago: number): string =>
      new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const reports = `${service.rest}/console/reports?mode=test&measure=money&span=days`;
    const days = `from=${dayOf(2)}&to=${dayOf(0)}`;
    await page.goto(`${reports}&${days}&by=shop`);
    const all = page.getByRole('row', {
      name: /^All 2 2 \(0%\) 100% 100% ₽400\.00 ₽200\.00 \(\+100%\) ₽400\.00/,
    });
    for (const [by, group] of [
      ['Shop', /^Tea & Cakes 2 /],
      ['Method', /^Card 2 /],
      ['Bank', /^simulator 2 /],
    ] as const) {
      await page.getByLabel('Group by').selectOption({ label: by });
      await page.getByRole('table', { name: 'Totals' }).getByRole('row', { name: group }).waitFor();
      await all.waitFor();
    }
    const russian = await openConsole(service.rest, cookie, { language: 'ru-RU' });
    await russian.page.goto(`${reports}&${days}&by=shop`);
    const [download] = await Promise.all([
      russian.page.waitForEvent('download'),
      russian.page.getByRole('button', { name: 'Сохранить итоги в CSV' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    assert.match(text, /^\uFEFF"Платежи: По магазинам";"С \(.+\)";"До, не включая \(.+\)";/);
    const saved: Record<string, string>[] = parse(text, {
      columns: true,
      bom: true,
      delimiter: ';',
    });
    assert.deepEqual(
      saved.map((row) => [
        row['Платежи: По магазинам'],
        ...['Число', 'Заказано, RUB', 'Движение денег, RUB'].map((name) => row[name]),
        ...['Число, предыдущий период', 'Движение денег, предыдущий период, RUB'].map(
          (name) => row[name],
        ),
      ]),
      ['Всего', 'Tea & Cakes'].map((name) => [name, '2', '400,00', '400,00', '2', '200,00']),
    );
    const chart = page.getByRole('img', { name: /Payments, Any days: money/ });
    await chart.focus();
    await page.keyboard.press('Home');
    const texts = await page.evaluate<string[]>(`(async () => {
      const seen = [];
      const next = { key: 'ArrowRight', bubbles: true };
      for (let step = 0; step < 72; step += 1) {
        seen.push(document.querySelector('.chart-readout').innerText);
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', next));
        await new Promise(requestAnimationFrame);
      }
      return seen;
    })()`);
    const shown = new Set(texts.map((one) => one.replace(/^.*\s(?=₽)/s, '')));
    assert.ok(shown.has('₽400.00'), [...shown].join());
    await page.getByLabel('To, that day included').fill(dayOf(1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('row', { name: /^All 0 / }).waitFor();
    assert.deepEqual([...complaints, ...russian.complaints], []);
  });
});

describe('the closing', { skip: noChromium }, () => {
  test('of a month has what the ledger has, on the screen and in a file that a Russian spreadsheet reads', async () => {
    const merchant = await makeMerchant(service);
    const order = { amount: 123_450, order_id: 'order-1', method: 'cards' };
    const ordered = await merchant.call('POST', '/payments', order);
    await payByCard(ordered.body.payment_url);
    const refund = `/payments/${ordered.body.payment.id}/refund`;
    await eventually(
      async () => (await merchant.call('POST', refund, { amount: 20_000 })).status === 201,
      'a payment to refund',
    );
    const entries = await eventually(async () => {
      const { items } = (await merchant.call('GET', '/ledger')).body;
      return items.length === 2 ? (items as { type: string; amount: number }[]) : null;
    }, 'the movements');
    const sum = (types: readonly string[]): string =>
      (
        entries
          .filter(({ type }) => types.includes(type))
          .reduce((total, { amount }) => total + amount, 0) / 100
      )
        .toFixed(2)
        .replace('.', ',');
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie, { language: 'ru-RU' });
    await page.goto(`${service.rest}/console/reports?mode=test&tab=closing`);
    const amountIn = async (line: string): Promise<string> =>
      (await page.getByRole('row', { name: line }).locator('td').nth(1).innerText()).replaceAll(
        /[^\d,-]/g,
        '',
      );
    assert.equal(await amountIn('Платежи'), '0,00');
    const month = page.getByRole('combobox', { name: 'Месяц' });
    await month.selectOption({ index: 0 });
    await page.getByText('Последний день ещё не кончился').waitFor();
    assert.deepEqual(
      [await amountIn('Платежи'), await amountIn('Исходящий остаток')],
      [sum(['payment']), sum(['payment', 'refund'])],
    );
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Сохранить закрытие в CSV' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    assert.match(text, /^\uFEFF"Магазин";"Первый день \(.+\)"/);
    const rows: Record<string, string>[] = parse(text, {
      columns: true,
      bom: true,
      delimiter: ';',
    });
    assert.deepEqual(
      rows.map((row) => [row['Платежи, RUB'], row['Возвраты, RUB'], row['Исходящий остаток, RUB']]),
      [1, 2].map(() => [sum(['payment']), sum(['refund']), sum(['payment', 'refund'])]),
    );
    const [spreadsheet] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Сохранить закрытие в XLSX' }).click(),
    ]);
    assert.match(spreadsheet.suggestedFilename(), /^closing_.+\.xlsx$/);
    const sheet = unzipSync(await readFile(await spreadsheet.path()))['xl/worksheets/sheet1.xml'];
    const numbers: readonly string[] =
      strFromU8(sheet ?? new Uint8Array()).match(/(?<=<v>)-?[\d.]+(?=<\/v>)/g) ?? [];
    for (const types of [['payment'], ['refund'], ['payment', 'refund']])
      assert.ok(numbers.includes(String(Number(sum(types).replace(',', '.')))), numbers.join(' '));
    const { public_id } = (await merchant.call('GET', `/payments/${ordered.body.payment.id}`)).body;
    const ledger = `${service.rest}/console/balance?mode=test`;
    const lines = async (): Promise<string[]> => {
      const rows = await page.getByRole('table', { name: 'Движения' }).locator('tbody tr').all();
      return Promise.all(
        rows.map(async (row) =>
          (await row.locator('td').allInnerTexts())
            .slice(0, 3)
            .join(' ')
            .replaceAll(/[^А-яё \d,-]|\u00a0/g, '')
            .trim(),
        ),
      );
    };
    const [paid, returned] = ['Платёж 1234,50 1234,50', 'Возврат -200,00 1034,50'];
    // Each differs from the one before, which may stand a moment longer.
    for (const [search, expected] of [
      ['', [returned, paid]],
      ['status=payment,fee', [paid]],
      [`payment=${public_id}`, [returned, paid]],
      ['payout=none', []],
      ['status=payment&since=2026-01-01T00:00:00.000Z', [paid]],
    ] as const) {
      await go(page, `${ledger}&${search}`);
      if (expected.length === 0) await page.getByText('С такими фильтрами движений нет').waitFor();
      await comesTo([...expected], lines);
    }
    const ends = page.locator('.strip').nth(1).locator('dd');
    await eventually(
      async () => (await ends.nth(1).innerText()).replaceAll(/[^\d,]/g, '') === '1034,50',
      'the balance at the end of the range',
    );
    assert.match(await ends.nth(0).innerText(), /^0,00/);
    assert.deepEqual(complaints, []);
  });
});
