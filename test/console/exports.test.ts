/** Lists of the console as CSV: exactly the list's rows, for whom may read them, within limits. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { askGraph, makeMerchant, type Merchant } from '../support/merchant.ts';
import { operatorToken } from '../support/service.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { csvWriter } from '../../rest-facade/exports/serve-exports.ts';
import { planExport } from '../../rest-facade/exports/plan-export.ts';
import { readApiSchema } from '../../schema/generated-files.ts';
import { noChromium } from '../browser/chromium.ts';
import { makeSession, openConsole } from './console-window.ts';
import { openVisitor, type Visitor } from './visitor.ts';
import { eventually } from '../support/eventually.ts';

/** More than two pages of an export. */
const payments_count = 420;
/** More than one page of the event log. */
const events_count = 210;

const compare = (one: string, other: string): number => (one < other ? -1 : 1);

let service: ServiceInUse;
let merchant: Merchant;
let stranger: Merchant;
before(async () => {
  service = await openPlainService();
  [merchant, stranger] = await Promise.all([makeMerchant(service), makeMerchant(service)]);
  await Promise.all(
    Array.from({ length: payments_count }, (_, index) => createPayment(merchant, index)),
  );
  await createPayment(stranger, 0);
});
after(() => service?.stop());

const createPayment = async (of: Merchant, index: number): Promise<void> => {
  const { status } = await of.call('POST', '/payments', {
    amount: 100 + (index % 7),
    order_id: `order-${index}`,
    method: 'cards',
  });
  assert.equal(status, 201);
};

const visitorOf = async (
  role: 'viewer' | 'admin',
  merchantId: string | null = null,
): Promise<Visitor> => {
  const visitor = openVisitor(service.rest);
  visitor.become(`console=${await makeSession(service, role, merchantId)}`);
  return visitor;
};

const exportOf = (visitor: Visitor, operation: string, variables: object, headers = {}) =>
  visitor.call('POST', '/console/exports', { operation, variables }, headers);

/** The rows of an export as objects. */
const rowsOf = async (answer: Response): Promise<Record<string, string>[]> => {
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/);
  return parse(await answer.text(), { columns: true, bom: true });
};

/** The ids that the graph lists, page by page. */
const listed = async (filter: object): Promise<string[]> => {
  const query = `query($merchantId: ID, $filter: PaymentFilter, $after: String) {
    payments(merchantId: $merchantId, filter: $filter, includeTest: true, first: 200, after: $after) {
      nodes { id } pageInfo { hasNextPage endCursor } } }`;
  const ids: string[] = [];
  for (let after: string | null = null, more = true; more;) {
    const { payments } = await askGraph(service, query, { merchantId: merchant.id, filter, after });
    ids.push(...payments.nodes.map(({ id }: { id: string }) => id));
    more = payments.pageInfo.hasNextPage;
    after = payments.pageInfo.endCursor;
  }
  return ids;
};

describe('an export', () => {
  test('has the rows of the list in its order, each once, while rows are added', async () => {
    const visitor = await visitorOf('viewer', merchant.id);
    const known = await listed({});
    assert.ok(known.length >= payments_count);
    const [rows] = await Promise.all([
      exportOf(visitor, 'Payments', { filter: { mode: ['test'] } }).then(rowsOf),
      ...Array.from({ length: 30 }, (_, index) => createPayment(merchant, 7 * index)),
    ]);
    const exported = rows.map(({ id = '' }) => id);
    assert.equal(new Set(exported).size, exported.length);
    assert.deepEqual(
      exported.filter((id) => known.includes(id)),
      known,
    );
    assert.ok(rows.every(({ merchant_id }) => merchant_id === merchant.id));
    const { 'amount (in currency)': amount, currency, status, order_id } = rows[0] ?? {};
    assert.match(`${amount} ${currency} ${status} ${order_id}`, /^1\.0\d RUB pending order-\d+$/);
  });

  test('has exactly the rows that the filters of the list leave', async () => {
    const visitor = await visitorOf('viewer', merchant.id);
    const filter = { mode: ['test'], amountFrom: 103, amountTo: 103 };
    const rows = await rowsOf(await exportOf(visitor, 'Payments', { filter, first: 1 }));
    assert.deepEqual(
      rows.map(({ id }) => id),
      await listed(filter),
    );
    assert.ok(rows.length > 1 && rows.length < payments_count);
    const none = await exportOf(visitor, 'Payments', { filter: { mode: ['live'] } });
    assert.deepEqual(await rowsOf(none), []);
  });

  test('has the event log in its order and of its kind, on several pages', async () => {
    const owner = await makeMerchant(service);
    const cancelled = await Promise.all(
      Array.from({ length: events_count }, async () => {
        const { body } = await owner.call('POST', '/payments', { amount: 100 });
        const { status } = await owner.call('POST', `/payments/${body.payment.id}/cancel`);
        assert.equal(status, 200);
        return body.payment.id as string;
      }),
    );
    const visitor = await visitorOf('viewer', owner.id);
    const { id: merchantId, shopId } = owner;
    const asked = { merchantId, shopId, mode: 'test', first: 1 };
    const fileOf = (more: object) =>
      exportOf(visitor, 'EventLog', { ...asked, ...more }).then(rowsOf);
    const oldestFirst = await eventually(async () => {
      const rows = await fileOf({ events: ['payment_cancelled'], newestFirst: false });
      return rows.length === events_count && rows;
    }, 'all events in the log');
    const paymentsOf = (rows: typeof oldestFirst) =>
      rows.map(({ data = '' }) => JSON.parse(data).id);
    assert.deepEqual(paymentsOf(oldestFirst).toSorted(compare), cancelled.toSorted(compare));
    const newestFirst = await fileOf({ events: ['payment_cancelled'], newestFirst: true });
    assert.deepEqual(paymentsOf(newestFirst), paymentsOf(oldestFirst).toReversed());
    assert.deepEqual(await fileOf({ events: ['payout_failed'], newestFirst: true }), []);
  });

  test('gives no other merchant’s rows, and refuses as the list does', async () => {
    const visitor = await visitorOf('admin', stranger.id);
    const rows = await rowsOf(await exportOf(visitor, 'Payments', { filter: { mode: ['test'] } }));
    assert.deepEqual(
      rows.map(({ merchant_id }) => merchant_id),
      [stranger.id],
    );
    const others = await exportOf(visitor, 'Payments', { merchantId: merchant.id });
    assert.deepEqual(
      [others.status, ((await others.json()) as any).error.code],
      [404, 'not_found'],
    );
    const wrong = await exportOf(visitor, 'Payments', { filter: { amountFrom: 2, amountTo: 1 } });
    assert.equal(wrong.status, 400);
    const words = await exportOf(visitor, 'ForbiddenWords', {});
    assert.equal(words.status, 403);
    assert.match(await words.text(), /scope_required/);
  });

  /** Texts, and what stands in the file: an apostrophe before each thing that begins a formula. */
  const formulas = {
    '=1+1': "'=1+1",
    '＝1+1': "'＝1+1",
    '@SUM(1)': "'@SUM(1)",
    'x;=HYPERLINK("http://x.invalid")': 'x;\'=HYPERLINK("http://x.invalid")',
    'a;"=1+1;x': 'a;\'"=1+1;x',
    'a, -1': "a,' -1",
    'a,-1': "a,'-1",
    'a\n＋1\r=2\t@3': "a\n'＋1\r'=2\t'@3",
    'Tea - 2=3+4': 'Tea - 2=3+4',
  };

  test('holds nothing that a spreadsheet would take for a formula, whatever separates its cells', async () => {
    const writer = csvWriter([{ name: 'text', path: ['text'], currency: null }], 'ru');
    for (const [text, cell] of Object.entries(formulas))
      assert.equal(writer.lines([{ text }]), `"${cell.replaceAll('"', '""')}"\r\n`);
    assert.equal(
      writer.lines([{ text: -5 }, { text: null }, { text: true }]),
      '-5\r\n\r\ntrue\r\n',
    );
    const name = `=HYPERLINK("http://x", "y"), ${merchant.id}`;
    await askGraph(service, 'mutation($name: String!) { merchantCreate(name: $name) { id } }', {
      name,
    });
    const visitor = await visitorOf('admin');
    const rows = await rowsOf(await exportOf(visitor, 'Merchants', { text: name }));
    assert.deepEqual(
      rows.map(({ name: cell }) => cell),
      [`'${name}`],
    );
  });

  test('in Russian has a mark of UTF-8 and semicolons', async () => {
    const visitor = await visitorOf('viewer', merchant.id);
    const asked = { operation: 'Payments', variables: { first: 1 }, language: 'ru' };
    const bytes = await (await visitor.call('POST', '/console/exports', asked)).bytes();
    assert.equal(Buffer.from(bytes.subarray(0, 3)).toString('hex'), 'efbbbf');
    const rows: (Record<string, string> & { id: string })[] = parse(Buffer.from(bytes), {
      columns: true,
      bom: true,
      delimiter: ';',
    });
    assert.ok(rows.length >= payments_count && rows.every(({ id }) => id.length === 36));
    const [first] = rows;
    assert.match(
      `${first?.['amount (in currency)']} ${first?.['created_at (UTC)']}`,
      /^1,0\d \d{4}-\d\d-\d\dT.+Z$/,
    );
    assert.ok(first && 'fee (in currency)' in first && 'net (in currency)' in first);
    const other = { ...asked, language: 'fr' };
    assert.equal((await visitor.call('POST', '/console/exports', other)).status, 400);
  });

  test('with variables that the list does not take is refused, as the graph refuses them', async () => {
    const visitor = await visitorOf('admin');
    for (const [operation, variables] of [
      ['Ledger', { merchantId: merchant.id, mode: 'x' }],
      ['Ledger', { merchantId: merchant.id }],
      ['Payments', { filter: { nothing: 1 } }],
    ] as const) {
      const answer = await exportOf(visitor, operation, variables);
      assert.equal(answer.status, 400, operation);
      const { error } = (await answer.json()) as any;
      assert.equal(error.code, 'bad_request');
      assert.match(error.message, /^Variable "\$\w+"/);
    }
  });

  test('is for people: pages of ours by cookie, operators by bearer, the lists alone', async () => {
    const visitor = await visitorOf('viewer', merchant.id);
    const statusOf = async (operation: string, headers: object): Promise<number> => {
      const answer = await exportOf(visitor, operation, {}, headers);
      await answer.arrayBuffer();
      return answer.status;
    };
    const byBearer = { cookie: '', origin: '', 'x-console': '' };
    assert.equal(await statusOf('Payments', { origin: 'https://evil.example' }), 403);
    assert.equal(await statusOf('Payments', { 'x-console': '' }), 403);
    assert.equal(await statusOf('Payments', byBearer), 401);
    for (const [bearer, status] of [
      [operatorToken, 200],
      [merchant.key, 403],
    ] as const)
      assert.equal(
        await statusOf('Refunds', { ...byBearer, authorization: `Bearer ${bearer}` }),
        status,
      );
    for (const operation of ['RefundPayment', 'Viewer', 'LiveEvents', 'nothing', '__proto__'])
      assert.equal(await statusOf(operation, {}), 400, operation);
  });

  test('runs for the lists of the console, and every one has its columns', async () => {
    const visitor = await visitorOf('admin');
    for (const [operation, variables] of [
      ...['Payments', 'Refunds', 'Payouts', 'Alerts', 'Audit'].map((name) => [name, {}] as const),
      ['Deliveries', { mode: 'test' }] as const,
    ])
      assert.ok(
        (await rowsOf(await exportOf(visitor, operation, variables))).length >= 0,
        operation,
      );
    const { operations } = JSON.parse(
      await readFile('schema/generated/console-operations.json', 'utf8'),
    ) as { operations: Record<string, string> };
    const lists = Object.entries(operations).filter(([, text]) =>
      /after: \$after[^]*(pageInfo|hasMore)/.test(text),
    );
    assert.ok(lists.length > 10, `saw only ${lists.length} lists`);
    const schema = readApiSchema();
    for (const [name, text] of lists) {
      const columns = (planExport(schema, text)?.columns ?? []).map((column) => column.name);
      assert.ok(columns.length > 2, name);
      assert.equal(new Set(columns).size, columns.length, `${name}: ${columns.join()}`);
    }
  });
});

describe('the button of a list', { skip: noChromium }, () => {
  test('saves the list with its filters, and says how many rows that are', async () => {
    const cookie = await makeSession(service, 'viewer', merchant.id);
    const { page, complaints } = await openConsole(service.rest, cookie);
    await page.goto(`${service.rest}/console/payments?mode=test&from=103&to=103`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /Save the whole list/ }).click(),
    ]);
    const known = await listed({ mode: ['test'], amountFrom: 103, amountTo: 103 });
    await page.getByText(`${known.length} rows saved`).waitFor();
    const rows = parse(await readFile(await download.path(), 'utf8'), {
      columns: true,
      bom: true,
    });
    assert.deepEqual(
      rows.map(({ id }: any) => id),
      known,
    );
    assert.deepEqual(complaints, []);
  });
});
