/**
 * Card numbers that a merchant puts into free texts go back to it as they came, and nowhere else.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Kind, type TypeNode } from 'graphql';
import type pg from 'pg';
import { readSubgraphSdl, subgraphNames } from '../../schema/sources.ts';
import { raiseAlert } from '../../subgraphs/platform/alerts/alerts.ts';
import { freeTexts } from '../../subgraphs/platform/graph/free-texts.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { startCollector, type Collector } from '../observability/collector.ts';
import { payByCard } from '../support/buyer.ts';
import { openPool, startTestDatabase } from '../support/database.ts';
import { leaksIn } from '../support/log-leaks.ts';
import { askGraph, makeMerchant, openReceiver, type Merchant } from '../support/merchant.ts';
import { startService, type Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

const card = '5555555555554444';
const grouped = '5555 5555 5555 4444';
const hasCard = (value: unknown): boolean =>
  /5555 ?5555 ?5555 ?4444/.test(typeof value === 'string' ? value : JSON.stringify(value));

/** What each kind of event says: ids, an amount and a status. */
const eventTypes = [
  'PaymentCreated',
  'PaymentStatusChanged',
  'PayoutCreated',
  'PayoutStatusChanged',
  'RefundCreated',
  'SubscriptionStatusChanged',
].map((kind) => `${kind}Event`);

/**
 * Texts of the program and of operators: words of closed lists, ids, names of shops, masks, what is
 * shown once.
 */
const ours: Readonly<Record<string, readonly string[]>> = {
  PageInfo: ['endCursor', 'startCursor'],
  ConsoleSession: ['subject', 'role'],
  FirstRequest: ['method', 'path', 'requestId'],
  ApiRequest: ['id', 'method', 'code', 'keyPrefix'],
  Payment: [
    'terminalName',
    'shopName',
    'publicId',
    'currency',
    'rrn',
    'bankName',
    'customerCardBrand',
    'customerCardMask',
    'customerPhoneMask',
    'customerPayerBank',
    'paymentUrl',
  ],
  PaymentLink: ['url', 'currency'],
  Receipt: ['currency', 'fiscalStorageNumber', 'fiscalDocumentNumber', 'fiscalAttribute'],
  // Masks.
  ReceiptCustomer: ['email', 'phone', 'fullName', 'inn'],
  ReceiptItem: ['quantity'],
  Refund: ['failReason'],
  PaymentCreated: ['paymentUrl', 'bank', 'bankRef', 'failureCode', 'failureMessage'],
  PayoutRecipient: ['phone', 'bankId', 'accountNumber', 'bik', 'inn'],
  PaymentNote: ['author'],
  RefundDraft: ['currency', 'createdBy', 'decidedBy'],
  PayoutDraft: ['currency', 'createdBy', 'decidedBy'],
  PayoutDraftRecipient: ['phoneMask', 'bankId', 'accountMask', 'bik', 'innMask', 'cardMask'],
  Payout: ['currency', 'failReason', 'recipientCardMask', 'bankRef'],
  PayoutQuote: ['currency'],
  SbpBank: ['memberId', 'name', 'nameEn'],
  PayoutCreated: ['bank', 'bankRef', 'failureReason'],
  PayoutBatchItem: ['code'],
  Token: ['cardBrand', 'cardMask', 'payUrl'],
  BillingSubscription: ['currency', 'payUrl'],
  SubscriptionTerms: ['currency'],
  SubscriptionCharge: ['currency', 'failureCode'],
  SubscriptionCreated: ['payUrl'],
  TokenCreated: ['payUrl'],
  CustomerSessionCreated: ['url'],
  Shop: ['allowList'],
  ApiKey: ['prefix', 'scopes', 'owner', 'requestedBy', 'approvedBy'],
  TimelineCreated: ['keyPrefix'],
  WebhookDelivery: ['eventId'],
  WebhookHeader: ['name', 'value'],
  SavedView: ['section'],
  PersonSession: ['subject'],
  Query: ['alertAssignees'],
  LoggedEvent: ['id'],
  EventLogPage: ['lastId'],
  Balance: ['currency'],
  Totals: ['currency'],
  // A status, a method, a bank's name, a failure code or a shop's id.
  TotalsRow: ['group'],
  LedgerEntry: ['currency'],
  LedgerFilePart: ['text'],
  ApiKeyIssued: ['secret'],
  ShopSigningSecretRotated: ['secret'],
  WebhookEndpointCreated: ['secret', 'standardSecret'],
  WebhookSecretRotated: ['secret', 'standardSecret'],
  AuditEntry: ['actor', 'role', 'action', 'subjectKind', 'subjectId'],
  MerchantProfile: ['legalName', 'inn', 'contactEmail', 'contactPhone', 'siteUrl', 'offerUrl'],
  PersonInvitation: ['subject', 'invitedBy'],
  PersonInvited: ['url'],
  BankRoute: ['connector'],
  BankAccount: ['connector', 'account'],
  BankHealthRow: ['connector'],
  BankBreaker: ['connector', 'process'],
  BlockEntry: ['shown'],
  ExchangeRate: ['currency', 'usdt'],
  Alert: ['subjectId', 'resolvedBy', 'assignee', 'place'],
  ReconciliationRun: ['connector', 'createdBy'],
  ...Object.fromEntries(eventTypes.map((type) => [type, ['payload']])),
  ReconciliationDifference: ['resolvedBy'],
  ReconciledOperation: ['currency', 'status'],
  Closing: ['currency'],
  Viewer: ['subject', 'issuer'],
  TimelineBankCall: [
    'connector',
    'call',
    'currency',
    'answer',
    'reference',
    'failureCode',
    'bankCode',
  ],
};
/**
 * What people at a console never read: the buyer's page, and what parts of the service ask one
 * another.
 */
const forOthers: ReadonlySet<string> = new Set([
  'Checkout',
  'CheckoutRefund',
  'LinkPage',
  'CustomerPage',
  'CustomerSubscription',
  'CustomerCharge',
  'LinkPaymentBegun',
  'RecurringPayment',
  'RecurringPaymentAsked',
  'ApiKeyHolder',
  'Seller',
]);

const nameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);

test('every text of the graph is known as a free one, which is masked at consoles, or as one that the program makes', () => {
  const seen = subgraphNames.flatMap((name) =>
    readSubgraphSdl(name).definitions.flatMap((definition) => {
      if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION || forOthers.has(definition.name.value))
        return [];
      const texts = (definition.fields ?? []).filter(({ type }) =>
        ['String', 'StringMap', 'JSONObject'].includes(nameOf(type)),
      );
      return texts.map((field) => ({ type: definition.name.value, field: field.name.value }));
    }),
  );
  assert.ok(seen.length > 60, `saw only ${seen.length} texts`);
  const lists = seen.filter(
    ({ type, field }) =>
      !Object.hasOwn(freeTexts[type] ?? {}, field) &&
      !(ours[type]?.includes(field) ?? false) &&
      // A cursor is made of a key and a position.
      !(type.endsWith('Edge') && field === 'cursor'),
  );
  assert.deepEqual(lists, [], 'texts in neither list');
  const named = Object.entries(freeTexts).flatMap(([type, fields]) =>
    Object.keys(fields).map((field) => ({ type, field })),
  );
  const lost = named.filter(
    ({ type, field }) => !seen.some((one) => one.type === type && one.field === field),
  );
  assert.deepEqual(lost, [], 'fields that no type has');
});

test('a line of the log has no card number, wherever in it a text repeats one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-log-'));
  const file = join(folder, 'service.log');
  try {
    const log = openLog({ logLevel: 'info' }, 'test', file);
    log.info(
      { orderId: `order ${card}`, deep: { list: [{ [card]: grouped }] }, count: 3 },
      `no order ${grouped}`,
    );
    log.info(
      { err: new Error(`duplicate order ${card}`, { cause: new Error(grouped) }) },
      'refused',
    );
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.ok(!hasCard(line), line);
      assert.deepEqual(leaksIn(line), []);
    }
    const { orderId, count, msg } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([orderId, count, msg], ['order ****4444', 3, 'no order ****4444']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('a merchant puts card numbers into every free text', () => {
  let service: Service | undefined;
  let collector: Collector;
  let database: Awaited<ReturnType<typeof startTestDatabase>>;
  let pool: pg.Pool;
  let merchant: Merchant;
  const serving = (): Service => service ?? assert.fail('no service');
  let payment: any;
  let webhook: any;

  before(async () => {
    [collector, database] = await Promise.all([
      startCollector(),
      startTestDatabase({ migrated: true }),
    ]);
    pool = openPool(database.url, 2);
    service = await startService('one', {
      DATABASE_URL: database.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'trace',
      WEBHOOK_PRIVATE_TARGETS: 'allow',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
    });
    merchant = await makeMerchant(service);
    const receiver = await openReceiver();
    await merchant.endpoint(`${receiver.url}/${card}`);
    const metadata = { [`card ${card}`]: grouped, late_success: 'true' };
    const body = {
      amount: 10_000,
      method: 'cards',
      order_id: `order ${card}`,
      customer_id: card,
      description: `for ${grouped}`,
      metadata,
    };
    const zeros = '0'.repeat(16);
    const traceparent = `00-${zeros}${card}-${card}-01`;
    const made = await merchant.call('POST', '/payments', body, {
      'idempotency-key': `key ${card}`,
      traceparent,
      'x-request-id': card,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await payByCard(made.body.payment_url);
    await receiver.until(({ body: received }) => received.event === 'payment.succeeded');
    webhook = receiver.received.find(
      ({ body: received }) => received.event === 'payment.succeeded',
    )?.body;
    const refund = await merchant.call('POST', `/payments/${made.body.payment.id}/refund`, {
      amount: 100,
      reason: `back to ${grouped}`,
    });
    assert.equal(refund.status, 201);
    const token = await merchant.call('POST', '/tokens', { customer_ref: card });
    assert.equal(token.status, 201, JSON.stringify(token.body));
    const plan = {
      customer_ref: card,
      plan_name: `plan ${grouped}`,
      amount: 1_000,
      period: 'month',
    };
    const subscription = await merchant.call('POST', '/subscriptions', plan);
    assert.equal(subscription.status, 201, JSON.stringify(subscription.body));
    // What is refused, with the number in it.
    for (const wrong of [
      { amount: card },
      { amount: 100, [card]: 1 },
      { amount: 100, method: card },
      { amount: 100, metadata: { [card]: 1 } },
    ])
      assert.equal((await merchant.call('POST', '/payments', wrong)).status, 400);
    for (const path of [
      `/payments?status=${card}`,
      `/payments?cursor=${card}`,
      `/payments/${card}`,
      `/tokens?customer_ref=${card}`,
    ])
      await merchant.call('GET', path);
    await raiseAlert(pool, {
      kind: 'bank_echo_differs',
      merchantId: merchant.id,
      shopId: null,
      mode: 'live',
      subjectId: made.body.payment.id,
      detail: `the bank says ${grouped}`,
      fields: { bank_status: grouped },
      at: Temporal.Now.instant(),
    });
    payment = (await merchant.call('GET', `/payments/${made.body.payment.id}`)).body;
    await receiver.close();
  });
  after(async () => {
    await service?.stop();
    await collector.close();
    await pool.end();
    await database.stop();
  });

  test('its own answers and webhooks have them as they were sent', async () => {
    for (const received of [payment, webhook.data]) {
      assert.deepEqual(
        [received.order_id, received.metadata[`card ${card}`]],
        [`order ${card}`, grouped],
      );
      assert.equal(received.metadata.customer_id, card);
    }
    assert.equal(payment.refunds[0].reason, `back to ${grouped}`);
    assert.equal(
      (await merchant.call('GET', '/subscriptions')).body.items[0].plan_name,
      `plan ${grouped}`,
    );
    const { payment: own } = await askGraph(
      serving(),
      'query ($id: ID!) { payment(id: $id) { orderId metadata } }',
      { id: payment.id },
      merchant.key,
    );
    assert.deepEqual([own.orderId, own.metadata[`card ${card}`]], [`order ${card}`, grouped]);
  });

  test('people at a console see the last 4 digits, whatever they search and whatever they call the fields', async () => {
    const document = `query ($m: ID!, $id: ID!, $order: String!) {
      payment(merchantId: $m, id: $id) { id: orderId text: description metadata refunds { reason } }
      payments(merchantId: $m, includeTest: true) { nodes { orderId metadata description } }
      paymentSearch(merchantId: $m, search: { orderId: $order }) { nodes { orderId description metadata refunds { id: reason } } }
      refunds(merchantId: $m) { nodes { reason payment { orderId } } }
      tokens(merchantId: $m) { customerRef }
      billingSubscriptions(merchantId: $m) { customerRef planName }
      webhookDeliveries(merchantId: $m) { nodes { url attemptLog { error responseHead } } }
      auditLog(merchantId: $m) { nodes { action before after requestId } }
      alerts(merchantId: $m) { nodes { detail fields { name value } } }
      ledger(merchantId: $m) { nodes { description } }
    }`;
    const seen = await askGraph(serving(), document, {
      m: merchant.id,
      id: payment.id,
      order: `order ${card}`,
    });
    assert.equal(seen.paymentSearch.nodes.length, 1, 'it is found by the number as it is');
    assert.deepEqual(
      [seen.payment.id, seen.payment.text, seen.payment.refunds[0].reason],
      ['order ****4444', 'for ****4444', 'back to ****4444'],
    );
    assert.equal(seen.payment.metadata['card ****4444'], '****4444');
    assert.deepEqual(
      seen.tokens.map(({ customerRef }: any) => customerRef).includes('****4444'),
      true,
    );
    assert.ok(
      seen.auditLog.nodes.some(
        ({ action, after: state }: any) =>
          action === 'refund.create' && state.reason === 'back to ****4444',
      ),
    );
    const alert = seen.alerts.nodes.find(({ detail }: any) => detail === 'the bank says ****4444');
    assert.deepEqual(alert.fields, [{ name: 'bank_status', value: '****4444' }]);
    for (const [root, answer] of Object.entries(seen))
      assert.ok(!hasCard(answer), `${root}: ${JSON.stringify(answer)}`);
  });

  test("a merchant's own late_success is its own: it comes back, is no late success, and no console shows it", async () => {
    assert.equal(payment.metadata.late_success, 'true');
    const document =
      'query ($m: ID, $id: ID!) { payment(merchantId: $m, id: $id) { lateSuccess metadata } }';
    const { payment: own } = await askGraph(serving(), document, { id: payment.id }, merchant.key);
    assert.deepEqual([own.lateSuccess, own.metadata.late_success], [false, 'true']);
    const { payment: shown } = await askGraph(serving(), document, {
      m: merchant.id,
      id: payment.id,
    });
    assert.deepEqual([shown.lateSuccess, shown.metadata.late_success], [false, undefined]);
    const planned = {
      simulator_outcome: 'failed',
      simulator_callbacks: 'contradictory',
      late_success: 'no',
    };
    const late = await merchant.call('POST', '/payments', {
      amount: 2_000,
      method: 'cards',
      metadata: planned,
    });
    await payByCard(late.body.payment_url);
    const { id } = late.body.payment;
    const isLate = async (): Promise<any> =>
      ((found) => found.captured_at && found)((await merchant.call('GET', `/payments/${id}`)).body);
    const received = await eventually(isLate, 'the late success');
    assert.deepEqual([received.status, received.metadata.late_success], ['failed', 'true']);
    const { payment: seen } = await askGraph(serving(), document, { m: merchant.id, id });
    assert.deepEqual([seen.lateSuccess, seen.metadata.late_success], [true, 'true']);
  });

  test('nothing of them is in the audit log, alerts, queues, metrics, logs and traces', async () => {
    const kept = async (table: string): Promise<string> => {
      const { rows } = await pool.query<{ text: string | null }>(
        `select string_agg(t::text, E'\\n') as text from ${table} t`,
      );
      return rows[0]?.text ?? '';
    };
    const { rows: queues } = await pool.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and (table_schema like '%bull%' or table_name like '%job%' or table_name like '%queue%')`,
    );
    assert.ok(queues.length > 0, 'queues on PostgreSQL');
    for (const table of [
      'audit_entry',
      'alert',
      'subject_trace',
      ...queues.map(({ name }) => name),
    ])
      assert.ok(!hasCard(await kept(table)), table);
    for (const { url } of serving().processes)
      assert.ok(!hasCard(await (await fetch(`${url}/metrics`)).text()), 'metrics');
    await serving().stop();
    const log = serving()
      .processes.map(({ output }) => output())
      .join('\n');
    assert.ok(log.length > 1_000);
    assert.deepEqual(log.split('\n').filter(hasCard), []);
    assert.ok(collector.raw().length > 1_000);
    assert.ok(!hasCard(collector.raw()), 'traces');
  });
});
