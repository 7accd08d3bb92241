/**
 * One call of every mutation that operators have on the merchants subgraph, which the walks of this
 * folder go through. A new mutation needs a line here.
 */
import { randomUUID } from 'node:crypto';
import { getNamedType, isUnionType } from 'graphql';
import { raiseAlert } from '../../subgraphs/kernel/alerts/raise-alert.ts';
import { matchNext } from '../../subgraphs/merchants/reconciliation/match-report.ts';
import { access } from '../../subgraphs/kernel/service/access/access.ts';
import type { Desk, World } from './desk.ts';

const text = JSON.stringify;
const shop = ({ merchantId, shopId }: World): string =>
  `merchantId: ${text(merchantId)}, shopId: ${text(shopId)}`;
const merchant = ({ merchantId }: World): string => `merchantId: ${text(merchantId)}`;
const endpoint = ({ merchantId, endpointId }: World): string =>
  `merchantId: ${text(merchantId)}, id: ${text(endpointId)}`;

const route = (world: World): string =>
  `${shop(world)}, operation: payment, method: sbp, connector: "somebank"`;
const account = (world: World): string =>
  `${merchant(world)}, connector: "somebank", account: "100500", secret: "somebank-secret"`;
const clock = (world: World): string => `${shop(world)}, at: "2026-11-22T00:00:00Z"`;
const block = (world: World): string =>
  `${merchant(world)}, kind: card, value: "4111111111111111", reason: "Fraud"`;
const adjustment = (world: World): string =>
  `${shop(world)}, mode: live, amount: 500, reason: "Correction", reference: "R-1"`;

/** Makes something as an operator and gives its id. */
const made = async (desk: Desk, call: string, type: string): Promise<string> => {
  const { answer } = await desk.ask(
    `mutation { answer: ${call} { ... on ${type} { id } ... on Refused { message } } }`,
  );
  return text(answer.id);
};

/**
 * Raises an alert about a payment of the merchant and gives its id; where there is no such merchant
 * there is no alert either.
 */
const raised = async (desk: Desk, merchantId: string): Promise<string> => {
  const asked = await desk.ask('query ($m: ID!) { merchant(id: $m) { id } }', { m: merchantId });
  if (!asked.merchant) return text(merchantId);
  const [subjectId, at] = [randomUUID(), Temporal.Now.instant()];
  await raiseAlert(desk.stage.pool, {
    kind: 'late_success',
    merchantId,
    shopId: null,
    mode: 'test',
    subjectId,
    detail: 'Paid after it had expired',
    at,
  });
  const { alerts } = await desk.ask(
    'query ($m: ID!) { alerts(first: 1, merchantId: $m) { nodes { id } } }',
    { m: merchantId },
  );
  return text(alerts.nodes[0].id);
};

/** A customer whose saved method was cancelled; gives the merchant's reference. */
const leftCustomer = async ({ stage }: Desk, { merchantId, shopId }: World): Promise<string> => {
  await stage.pool.query(
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
const stopped = async ({ stage }: Desk, { merchantId, shopId }: World): Promise<string> => {
  const { rows } = await stage.pool.query<{ id: string }>(
    `insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount, amount_refunded, currency,
        method, status, metadata, created_at, expires_at, processing_until, connector, bank_ref)
      select merchant_id, gen_random_uuid(), 1, 'P-' || nextval('payment_public_id'), id, terminal_id, terminal_name, name, 'live', 'A-1', 100, 0, 'RUB',
        'sbp', 'processing', '{}', now(), now(), now(), 'somebank', 'B-1' from shop where merchant_id::text = $1 and id::text = $2 returning id`,
    [merchantId, shopId],
  );
  return rows[0]?.id ?? merchantId;
};

/** The shop, once it has a clock. */
const clocked = async (world: World, desk: Desk): Promise<string> => {
  await desk.ask(`mutation { testClockCreate(${clock(world)}) { __typename } }`);
  return shop(world);
};

const registry = (): string =>
  `connector: "somebank", mode: live, reference: "${randomUUID()}", since: "2026-11-01T00:00:00Z", until: "2026-11-02T00:00:00Z"`;
const unknownLine =
  'reference,operation_id,kind,amount,currency,status,at,fee\nr-1,,payment,100,RUB,succeeded,2026-11-01T10:00:00Z,';

/** Opens a run for a registry; gives its id. */
const runOpened = (desk: Desk): Promise<string> =>
  made(desk, `reconciliationOpen(${registry()})`, 'ReconciliationRun');

/** Compares a registry that has a payment which nobody knows here; gives the difference's id. */
const differing = async (desk: Desk): Promise<string> => {
  const runId = await runOpened(desk);
  await made(
    desk,
    `reconciliationPartAdd(runId: ${runId}, part: 1, csv: ${text(unknownLine)})`,
    'ReconciliationRun',
  );
  await made(desk, `reconciliationMatch(runId: ${runId})`, 'ReconciliationRun');
  while (await matchNext(desk.stage.pool, Temporal.Now.instant()));
  const { found } = await desk.ask(
    `{ found: reconciliationDifferences(runId: ${runId}) { nodes { id } } }`,
  );
  return text(found.nodes[0].id);
};

/**
 * The arguments of a call that succeeds, by mutation. What must be there first is made through the
 * desk.
 */
export const examples: Readonly<
  Record<string, (world: World, desk: Desk) => string | Promise<string>>
> = {
  merchantCreate: () => 'name: "Another"',
  merchantRename: (world) => `${merchant(world)}, name: "Renamed"`,
  merchantLiveEnable: merchant,
  merchantLiveDisable: merchant,
  merchantRateLimitSet: (world) => `${merchant(world)}, perSecond: 5, burst: 10`,
  shopCreate: (world) => `${merchant(world)}, name: "Second shop"`,
  shopRename: (world) => `${shop(world)}, name: "Renamed", terminalName: "Till"`,
  shopWebhookSecretRotate: (world) => `${shop(world)}, overlapHours: 24`,
  shopSignatureRequire: (world) => `${shop(world)}, required: false`,
  shopSigningSecretRotate: shop,
  shopAllowListSet: (world) => `${shop(world)}, entries: ["192.0.2.0/24", "2001:db8::1"]`,
  apiKeyIssue: (world) => `${shop(world)}, mode: live`,
  apiKeyRevoke: (world) => `${merchant(world)}, apiKeyId: ${text(world.keyId)}`,
  webhookEndpointCreate: (world) =>
    `${shop(world)}, url: "https://example.com/hook?a=1", events: [payment_succeeded], signature: stripe`,
  webhookEndpointUpdate: (world) => `${endpoint(world)}, url: "https://example.com/other"`,
  webhookEndpointDisable: endpoint,
  webhookEndpointEnable: endpoint,
  webhookEndpointDelete: endpoint,
  webhookEndpointSecretRotate: (world) => `${endpoint(world)}, overlapHours: 1`,
  webhookDeliveryResend: ({ merchantId, deliveryId }) =>
    `merchantId: ${text(merchantId)}, id: ${text(deliveryId)}`,
  testClockCreate: clock,
  testClockAdvance: async (world, desk) =>
    `${await clocked(world, desk)}, to: "2026-12-01T00:00:00Z"`,
  testClockFreeze: clocked,
  testClockResume: clocked,
  testClockRemove: clocked,
  rateSet: (world) => `${merchant(world)}, method: sbp, rateBps: 90`,
  bankAccountSet: account,
  bankAccountRemove: async (world, desk) => {
    await desk.ask(`mutation { bankAccountSet(${account(world)}) { __typename } }`);
    return `${merchant(world)}, connector: "somebank"`;
  },
  bankRouteSet: route,
  bankRouteRemove: async (world, desk) =>
    `${merchant(world)}, id: ${await made(desk, `bankRouteSet(${route(world)})`, 'BankRoute')}`,
  blockEntryAdd: block,
  blockEntryRemove: async (world, desk) =>
    `${merchant(world)}, id: ${await made(desk, `blockEntryAdd(${block(world)})`, 'BlockEntry')}`,
  forbiddenPurposeAdd: () => 'word: "casino", reason: "Law"',
  forbiddenPurposeRemove: async (_, desk) =>
    `id: ${await made(desk, 'forbiddenPurposeAdd(word: "lottery", reason: "Law")', 'ForbiddenPurpose')}`,
  exchangeRateSet: () => 'currency: "RUB", usdt: "0.0125"',
  adjustmentRecord: adjustment,
  settlementRecord: async (world, desk) => {
    await desk.ask(`mutation { adjustmentRecord(${adjustment(world)}) { __typename } }`);
    return `${shop(world)}, mode: live, amount: 100, reference: "S-1"`;
  },
  reconciliationOpen: registry,
  reconciliationPartAdd: async (_, desk) =>
    `runId: ${await runOpened(desk)}, part: 1, csv: ${text(unknownLine)}`,
  reconciliationMatch: async (_, desk) => `runId: ${await runOpened(desk)}`,
  reconciliationDifferenceResolve: async (_, desk) =>
    `id: ${await differing(desk)}, note: "Another merchant of ours"`,
  alertResolve: async (world, desk) =>
    `${merchant(world)}, id: ${await raised(desk, world.merchantId)}, note: "Refunded by hand"`,
  bankAskAgain: async (world, desk) =>
    `${merchant(world)}, id: ${text(await stopped(desk, world))}`,
  personalDataErase: async (world, desk) =>
    `${merchant(world)}, subject: customer, id: ${text(await leftCustomer(desk, world))}, reason: "Asked for it"`,
  webhookDeliveriesResendFailed: (world) => `${merchant(world)}, since: "2026-01-01T00:00:00Z"`,
};

/** Every mutation of the subgraph that operators may call, by the access table. */
export const operatorMutations = ({ schema }: Desk): readonly string[] =>
  Object.keys(schema.getMutationType()?.getFields() ?? {}).filter(
    (name) => access[`Mutation.${name}`]?.operator !== undefined,
  );

/** What calls the mutation as its example does. */
export const documentOf = async (desk: Desk, name: string, world: World): Promise<string> => {
  const example = examples[name];
  const field = desk.schema.getMutationType()?.getFields()[name];
  if (!example || !field) throw new Error(`test/cabinet/examples.ts has no line for ${name}`);
  const refusal = isUnionType(getNamedType(field.type)) ? ' ... on Refused { code message }' : '';
  return `mutation { ${name}(${await example(world, desk)}) { __typename${refusal} } }`;
};
