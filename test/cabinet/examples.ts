/**
 * One call of every mutation that operators have on the merchants subgraph, which the walks of this
 * folder go through. A new mutation needs a line here.
 */
import { randomUUID } from 'node:crypto';
import { getNamedType, isUnionType } from 'graphql';
import { raiseAlert } from '../../subgraphs/platform/alerts/alerts.ts';
import { matchNext } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import { isUuid } from '../../subgraphs/rules/ids.ts';
import { access } from '../../subgraphs/platform/access/access.ts';
import type { Cabinet, Fixture } from './cabinet.ts';

const text = JSON.stringify;
const shop = ({ merchantId, shopId }: Fixture): string =>
  `merchantId: ${text(merchantId)}, shopId: ${text(shopId)}`;
const merchant = ({ merchantId }: Fixture): string => `merchantId: ${text(merchantId)}`;
const endpoint = ({ merchantId, endpointId }: Fixture): string =>
  `merchantId: ${text(merchantId)}, id: ${text(endpointId)}`;

const route = (fixture: Fixture): string =>
  `${shop(fixture)}, operation: payment, method: sbp, connector: "somebank"`;
const account = (fixture: Fixture): string =>
  `${merchant(fixture)}, connector: "somebank", account: "100500", secret: "somebank-secret"`;
const clock = (fixture: Fixture): string => `${shop(fixture)}, at: "2026-11-22T00:00:00Z"`;
const block = (fixture: Fixture): string =>
  `${merchant(fixture)}, kind: card, value: "4111111111111111", reason: "Fraud"`;
const adjustment = (fixture: Fixture): string =>
  `${shop(fixture)}, mode: live, amount: 500, reason: "Correction", reference: "R-1"`;

/** Makes something as an operator and gives its id. */
const made = async (cabinet: Cabinet, call: string, type: string): Promise<string> => {
  const { answer } = await cabinet.ask(
    `mutation { answer: ${call} { ... on ${type} { id } ... on Refused { message } } }`,
  );
  return text(answer.id);
};

/** Logs a merchant's person in to the console; gives the session's id. */
const loggedIn = async ({ harness }: Cabinet, merchantId: string): Promise<string> => {
  const id = randomUUID();
  if (!isUuid(merchantId)) return id;
  await harness.pool.query(
    `insert into console_session (digest, id, subject, role, merchant_id, created_at, seen_at, ends_at)
      values ($1, $2, 'somebody', 'viewer', $3, now(), now(), now() + interval '1 hour')`,
    [id, id, merchantId],
  );
  return id;
};

/**
 * Raises an alert about a payment of the merchant and gives its id; where there is no such merchant
 * there is no alert either.
 */
const raised = async (cabinet: Cabinet, merchantId: string): Promise<string> => {
  const asked = await cabinet.ask('query ($m: ID!) { merchant(id: $m) { id } }', { m: merchantId });
  if (!asked.merchant) return text(merchantId);
  const [subjectId, at] = [randomUUID(), Temporal.Now.instant()];
  await raiseAlert(cabinet.harness.pool, {
    kind: 'late_success',
    merchantId,
    shopId: null,
    mode: 'test',
    subjectId,
    detail: 'Paid after it had expired',
    fields: {},
    at,
  });
  const { alerts } = await cabinet.ask(
    'query ($m: ID!) { alerts(first: 1, merchantId: $m) { nodes { id } } }',
    { m: merchantId },
  );
  return text(alerts.nodes[0].id);
};

/** A customer whose saved method was cancelled; gives the merchant's reference. */
const leftCustomer = async (
  { harness }: Cabinet,
  { merchantId, shopId }: Fixture,
): Promise<string> => {
  await harness.pool.query(
    `insert into token (merchant_id, id, shop_id, mode, customer_ref, method, status, created_at)
     select merchant_id, gen_random_uuid(), id, 'test', 'c-1', 'cards', 'cancelled', now() from shop where merchant_id::text = $1 and id::text = $2`,
    [merchantId, shopId],
  );
  return 'c-1';
};

/**
 * A live payment that its bank is not asked about any more; gives its id. Where there is no such
 * shop there is no payment either.
 */
const stopped = async ({ harness }: Cabinet, { merchantId, shopId }: Fixture): Promise<string> => {
  const { rows } = await harness.pool.query<{ id: string }>(
    `insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded, currency,
        method, status, metadata, created_at, expires_at, processing_until, connector, bank_ref)
      select merchant_id, gen_random_uuid(), 1, 'P-' || nextval('payment_public_id'), id, terminal_id, terminal_name, name, 'live', 'A-1', 100, 0, 'RUB',
        'sbp', 'processing', '{}', now(), now(), now(), 'somebank', 'B-1' from shop where merchant_id::text = $1 and id::text = $2 returning id`,
    [merchantId, shopId],
  );
  return rows[0]?.id ?? merchantId;
};

/** The shop, once it has a clock. */
const clocked = async (fixture: Fixture, cabinet: Cabinet): Promise<string> => {
  await cabinet.ask(`mutation { testClockCreate(${clock(fixture)}) { __typename } }`);
  return shop(fixture);
};

const registry = (): string =>
  `connector: "somebank", mode: live, reference: "${randomUUID()}", since: "2026-11-01T00:00:00Z", until: "2026-11-02T00:00:00Z"`;
const unknownLine =
  'reference,operation_id,kind,amount,currency,status,at,fee\nr-1,,payment,100,RUB,succeeded,2026-11-01T10:00:00Z,';

/** Opens a run for a registry; gives its id. */
const runOpened = (cabinet: Cabinet): Promise<string> =>
  made(cabinet, `reconciliationOpen(${registry()})`, 'ReconciliationRun');

/** Compares a registry that has an unknown payment; gives the difference's id. */
const differing = async (cabinet: Cabinet): Promise<string> => {
  const runId = await runOpened(cabinet);
  await made(
    cabinet,
    `reconciliationPartAdd(runId: ${runId}, part: 1, csv: ${text(unknownLine)})`,
    'ReconciliationRun',
  );
  await made(cabinet, `reconciliationMatch(runId: ${runId})`, 'ReconciliationRun');
  while (await matchNext(cabinet.harness.database, Temporal.Now.instant()));
  const { found } = await cabinet.ask(
    `{ found: reconciliationDifferences(runId: ${runId}) { nodes { id } } }`,
  );
  return text(found.nodes[0].id);
};

/**
 * The arguments of a call that succeeds, by mutation. What must be there first is made through the
 * cabinet.
 */
export const examples: Readonly<
  Record<string, (fixture: Fixture, cabinet: Cabinet) => string | Promise<string>>
> = {
  merchantCreate: () => 'name: "Another"',
  merchantOnboard: () =>
    'name: "Onboarded", shopName: "First shop", webhookUrl: "https://example.com/hook"',
  merchantRename: (fixture) => `${merchant(fixture)}, name: "Renamed"`,
  merchantLiveEnable: merchant,
  merchantLiveDisable: merchant,
  merchantRateLimitSet: (fixture) => `${merchant(fixture)}, perSecond: 5, burst: 10`,
  merchantProfileSet: (fixture) =>
    `${merchant(fixture)}, profile: { legalName: "Teahouse LLC", inn: "7707083893" }`,
  merchantSupportRefundSet: (fixture) => `${merchant(fixture)}, amount: 50000`,
  shopCreate: (fixture) => `${merchant(fixture)}, name: "Second shop"`,
  shopRename: (fixture) => `${shop(fixture)}, name: "Renamed", terminalName: "Till"`,
  shopWebhookSecretRotate: (fixture) => `${shop(fixture)}, overlapHours: 24`,
  shopSignatureRequire: (fixture) => `${shop(fixture)}, required: false`,
  shopSigningSecretRotate: shop,
  shopAllowListSet: (fixture) => `${shop(fixture)}, entries: ["192.0.2.0/24", "2001:db8::1"]`,
  shopReceiptsRequire: (fixture) => `${shop(fixture)}, required: true`,
  apiKeyIssue: (fixture) => `${shop(fixture)}, mode: live`,
  apiKeyApprove: (fixture) => `${merchant(fixture)}, apiKeyId: ${text(fixture.keyId)}`,
  apiKeyRevoke: (fixture) => `${merchant(fixture)}, apiKeyId: ${text(fixture.keyId)}`,
  apiKeyRotate: (fixture) => `${merchant(fixture)}, apiKeyId: ${text(fixture.keyId)}`,
  webhookEndpointCreate: (fixture) =>
    `${shop(fixture)}, url: "https://example.com/hook?a=1", events: [payment_succeeded], signature: stripe`,
  webhookEndpointUpdate: (fixture) => `${endpoint(fixture)}, url: "https://example.com/other"`,
  webhookEndpointDisable: endpoint,
  webhookEndpointEnable: endpoint,
  webhookEndpointDelete: endpoint,
  webhookEndpointSecretRotate: (fixture) => `${endpoint(fixture)}, overlapHours: 1`,
  webhookDeliveryResend: ({ merchantId, deliveryId }) =>
    `merchantId: ${text(merchantId)}, id: ${text(deliveryId)}`,
  testClockCreate: clock,
  testClockAdvance: async (fixture, cabinet) =>
    `${await clocked(fixture, cabinet)}, to: "2026-12-01T00:00:00Z"`,
  testClockFreeze: clocked,
  testClockResume: clocked,
  testClockRemove: clocked,
  rateSet: (fixture) => `${merchant(fixture)}, method: sbp, rateBps: 90`,
  bankAccountSet: account,
  bankAccountRemove: async (fixture, cabinet) => {
    await cabinet.ask(`mutation { bankAccountSet(${account(fixture)}) { __typename } }`);
    return `${merchant(fixture)}, connector: "somebank"`;
  },
  bankRouteSet: route,
  bankRouteRemove: async (fixture, cabinet) =>
    `${merchant(fixture)}, id: ${await made(cabinet, `bankRouteSet(${route(fixture)})`, 'BankRoute')}`,
  blockEntryAdd: block,
  blockEntryRemove: async (fixture, cabinet) =>
    `${merchant(fixture)}, id: ${await made(cabinet, `blockEntryAdd(${block(fixture)})`, 'BlockEntry')}`,
  forbiddenPurposeAdd: () => 'word: "casino", reason: "Law"',
  forbiddenPurposeRemove: async (_, cabinet) =>
    `id: ${await made(cabinet, 'forbiddenPurposeAdd(word: "lottery", reason: "Law")', 'ForbiddenPurpose')}`,
  exchangeRateSet: () => 'currency: "RUB", usdt: "0.0125"',
  adjustmentRecord: adjustment,
  settlementRecord: async (fixture, cabinet) => {
    await cabinet.ask(`mutation { adjustmentRecord(${adjustment(fixture)}) { __typename } }`);
    return `${shop(fixture)}, mode: live, amount: 100, reference: "S-1"`;
  },
  reconciliationOpen: registry,
  reconciliationPartAdd: async (_, cabinet) =>
    `runId: ${await runOpened(cabinet)}, part: 1, csv: ${text(unknownLine)}`,
  reconciliationMatch: async (_, cabinet) => `runId: ${await runOpened(cabinet)}`,
  reconciliationDifferenceResolve: async (_, cabinet) =>
    `id: ${await differing(cabinet)}, note: "Another merchant of ours"`,
  alertResolve: async (fixture, cabinet) =>
    `${merchant(fixture)}, id: ${await raised(cabinet, fixture.merchantId)}, note: "Refunded by hand"`,
  alertAssign: async (fixture, cabinet) =>
    `${merchant(fixture)}, id: ${await raised(cabinet, fixture.merchantId)}, assignee: null`,
  webhookEndpointTest: endpoint,
  savedViewSave: () => 'section: "payments", name: "Failed today", search: "status=failed"',
  savedViewDelete: async (_, cabinet) =>
    `id: ${await made(cabinet, 'savedViewSave(section: "payments", name: "One", search: "")', 'SavedView')}`,
  personInvite: (fixture) => `${merchant(fixture)}, email: "anna@example.com", role: finance`,
  personInvitationWithdraw: async (fixture, cabinet) => {
    const { answer } = await cabinet.ask(
      `mutation { answer: personInvite(${merchant(fixture)}, email: "boris@example.com", role: viewer) { ... on PersonInvited { invitation { id } } ... on Refused { message } } }`,
    );
    return `id: ${text(answer.invitation?.id ?? randomUUID())}`;
  },
  personSessionEnd: async ({ merchantId }, cabinet) =>
    `id: ${text(await loggedIn(cabinet, merchantId))}`,
  bankAskAgain: async (fixture, cabinet) =>
    `${merchant(fixture)}, id: ${text(await stopped(cabinet, fixture))}`,
  personalDataErase: async (fixture, cabinet) =>
    `${merchant(fixture)}, subject: customer, id: ${text(await leftCustomer(cabinet, fixture))}, reason: "Asked for it"`,
  webhookDeliveriesRetry: (fixture) => {
    const { merchantId, endpointId } = fixture;
    return `merchantId: ${text(merchantId)}, endpointId: ${text(endpointId)}`;
  },
  webhookDeliveriesResendFailed: (fixture) => `${merchant(fixture)}, since: "2026-01-01T00:00:00Z"`,
};

/** Every mutation of the subgraph that operators may call, by the access table. */
export const operatorMutations = ({ schema }: Cabinet): readonly string[] =>
  Object.keys(schema.getMutationType()?.getFields() ?? {}).filter(
    (name) => access[`Mutation.${name}`]?.operator !== undefined,
  );

/** What calls the mutation as its example does. */
export const documentOf = async (
  cabinet: Cabinet,
  name: string,
  fixture: Fixture,
): Promise<string> => {
  const example = examples[name];
  const field = cabinet.schema.getMutationType()?.getFields()[name];
  if (!example || !field) throw new Error(`test/cabinet/examples.ts has no line for ${name}`);
  const refusal = isUnionType(getNamedType(field.type)) ? ' ... on Refused { code message }' : '';
  return `mutation { ${name}(${await example(fixture, cabinet)}) { __typename${refusal} } }`;
};
