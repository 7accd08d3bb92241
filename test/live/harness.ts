/**
 * A service whose live mode goes to the emulated acquirer, both as processes of their own, and a
 * merchant with a live key.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import {
  gatewayAccount,
  shopAccount,
  startAcquirer,
  type Acquirer,
} from '../acquirer/start-acquirer.ts';
import {
  askGraph,
  callRest,
  makeMerchant,
  type Answer,
  type Merchant,
} from '../support/merchant.ts';
import { startTestDatabase } from '../support/database.ts';
import { startService, type Service } from '../support/service.ts';
import { fastEnvironment, usualTimes } from '../support/fast-time.ts';
import { eventually } from '../support/eventually.ts';

export interface LiveMerchant extends Merchant {
  /** The same shop's test key. */
  readonly testKey: string;
}

export interface LiveHarness {
  readonly service: Service;
  readonly acquirer: Acquirer;
  readonly merchant: LiveMerchant;
  /**
   * Lets a payment's link, its session, or a subscription's period be over now: live mode has no
   * clock of its own.
   */
  elapse(id: string, what: 'link' | 'session' | 'period'): Promise<void>;
  close(): Promise<void>;
}

const refusedOr = 'code message';

/** Asks as the operator; throws on a refusal. */
export const operate = async (
  service: Service,
  mutation: string,
  variables: Record<string, unknown>,
): Promise<any> => {
  const [answer] = Object.values<any>(await askGraph(service, mutation, variables));
  assert.equal(answer.code, undefined, JSON.stringify(answer));
  return answer;
};

export const enableLive = (service: Service, merchantId: string): Promise<unknown> =>
  operate(
    service,
    `mutation ($m: ID!) { merchantLiveEnable(merchantId: $m) { ... on Refused { ${refusedOr} } } }`,
    { m: merchantId },
  );

const yookassaRoutes = {
  payment: ['sbp', 'cards', 'tpay', 'sberpay'],
  recurrent: ['sbp', 'cards', 'tpay'],
  payout: ['sbp', 'card', 'account'],
} as const;

const over = {
  link: 'payment set expires_at',
  session: 'payment set processing_until',
  period: 'subscription set due_at',
} as const;

/** Routes a shop's live operations, by their methods, to a bank. */
export const routeTo = async (
  service: Service,
  connector: string,
  { id, shopId }: Pick<Merchant, 'id' | 'shopId'>,
  routes: Readonly<Record<string, readonly string[]>>,
): Promise<void> => {
  for (const [operation, methods] of Object.entries(routes)) {
    for (const method of methods) {
      const set = `mutation ($m: ID!, $s: ID!, $o: BankOperation!, $w: RouteMethod!, $c: String!) {
        bankRouteSet(merchantId: $m, shopId: $s, operation: $o, method: $w, connector: $c) { ... on Refused { ${refusedOr} } } }`;
      await operate(service, set, { m: id, s: shopId, o: operation, w: method, c: connector });
    }
  }
};

/** Routes a shop's live operations to YooKassa. */
export const routeToYooKassa = (
  service: Service,
  merchant: Pick<Merchant, 'id' | 'shopId'>,
): Promise<void> => routeTo(service, 'yookassa', merchant, yookassaRoutes);

/** A merchant whose shop has a live key; nothing is enabled or routed yet. */
export const makeLiveMerchant = async (service: Service): Promise<LiveMerchant> => {
  const made = await makeMerchant(service);
  const issue =
    'mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, mode: live) { ... on ApiKeyIssued { secret } ... on Refused { code } } }';
  const { secret: key } = await operate(service, issue, { m: made.id, s: made.shopId });
  return {
    ...made,
    key,
    testKey: made.key,
    call: (method, path, body, headers) =>
      callRest({ rest: service.rest, key }, method, path, body, headers),
  };
};

type Variables = Readonly<Record<string, string>>;

/**
 * Starts everything, in fast time; `environment` adds to the service's, `route` says which banks serve the
 * merchant.
 */
export const openLiveHarness = async (
  environment: Variables | ((acquirer: Acquirer) => Variables) = {},
  route: (service: Service, merchant: LiveMerchant) => Promise<void> = routeToYooKassa,
): Promise<LiveHarness> => {
  const speed = { began_ms: Date.now(), times: usualTimes };
  const [acquirer, database] = await Promise.all([
    startAcquirer(fastEnvironment(speed, 'Date')),
    startTestDatabase({ migrated: true }),
  ]);
  const service = await startService('one', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    YOOKASSA_URL: acquirer.api,
    YOOKASSA_SHOP_ID: shopAccount.id,
    YOOKASSA_SECRET_KEY: shopAccount.secret,
    YOOKASSA_GATEWAY_ID: gatewayAccount.id,
    YOOKASSA_GATEWAY_SECRET_KEY: gatewayAccount.secret,
    // A busy machine may be late with an answer, and each that is lost on purpose takes as long.
    YOOKASSA_TIMEOUT_MS: '1500',
    YOOKASSA_CALLBACK_NETWORKS: '127.0.0.1',
    TRUSTED_PROXIES: '127.0.0.1',
    ...fastEnvironment(speed, 'Temporal'),
    ...(typeof environment === 'function' ? environment(acquirer) : environment),
  });
  await acquirer.callbacks({ callbackUrl: `${service.rest}/callbacks/yookassa` });
  const merchant = await makeLiveMerchant(service);
  await enableLive(service, merchant.id);
  await route(service, merchant);
  const time = new pg.Client({ connectionString: database.url });
  await time.connect();
  return {
    service,
    acquirer,
    merchant,
    elapse: async (id, what) => {
      await time.query(`update ${over[what]} = now(), version = version + 1 where id = $1`, [id]);
    },
    close: async () => {
      await time.end();
      await Promise.all([service.stop(), acquirer.stop()]);
      await database.stop();
    },
  };
};

/** What a buyer's browser sends on the hosted page; the answered state. */
export const onPage = async (
  paymentUrl: string,
  step: 'pay' | 'method',
  body: unknown = {},
): Promise<any> => {
  const response = await fetch(`${paymentUrl}/${step}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(paymentUrl).origin },
    body: JSON.stringify(body),
  });
  const state: any = await response.json();
  assert.equal(response.status, 200, JSON.stringify(state));
  return state;
};

/** A card; one number is asked to confirm itself at the acquirer. */
export const cardOf = (number = '2200000000000004') => ({
  number,
  expiry: '12/30',
  cvc: '123',
  holder: 'IVAN PETROV',
});

export interface Ordered {
  readonly payment: any;
  readonly url: string;
  /** The whole answer. */
  readonly answer: any;
}

/** Creates a live payment. */
export const order = async (
  merchant: LiveMerchant,
  amount: number,
  method = 'sbp',
  orderId?: string,
): Promise<Ordered> => {
  const body = { amount, order_id: orderId ?? `A-${crypto.randomUUID()}`, method };
  const created: Answer = await merchant.call('POST', '/payments', body);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return { payment: created.body.payment, url: created.body.payment_url, answer: created.body };
};

/** Waits until a payment has a status. */
export const untilStatus = (
  merchant: Pick<Merchant, 'call'>,
  id: string,
  status: string,
): Promise<any> =>
  eventually(async () => {
    const { body } = await merchant.call('GET', `/payments/${id}`);
    return body.status === status && body;
  }, `${id} as ${status}`);

/** What the hosted page shows now. */
export const pageState = async (paymentUrl: string): Promise<any> =>
  (await fetch(`${paymentUrl}/state`)).json();

/** What the acquirer has of an operation, once it has it. */
export const atBank = (
  harness: Pick<LiveHarness, 'acquirer'>,
  kind: 'payments' | 'refunds' | 'payouts',
  operationId: string,
): Promise<any> =>
  eventually(
    async () =>
      (await harness.acquirer.books())[kind].find(
        ({ metadata }) => metadata.operation_id === operationId,
      ),
    'the order at the bank',
  );

/** How many orders the acquirer has of an operation: more than one would be paid twice. */
export const countAtBank = async (
  { acquirer }: Pick<LiveHarness, 'acquirer'>,
  kind: 'payments' | 'refunds' | 'payouts',
  operationId: string,
): Promise<number> =>
  (await acquirer.books())[kind].filter(({ metadata }) => metadata.operation_id === operationId)
    .length;

/** The buyer confirms or refuses on the acquirer's page. */
export const confirmed = async (
  harness: Pick<LiveHarness, 'acquirer'>,
  operationId: string,
  decision: 'pay' | 'refuse',
): Promise<void> => {
  const { confirmation } = await atBank(harness, 'payments', operationId);
  await harness.acquirer.confirm(
    confirmation.confirmation_data ?? confirmation.confirmation_url,
    decision,
  );
};

/** A payment by SBP that has succeeded. */
export const paid = async (harness: LiveHarness, amount: number): Promise<any> => {
  const { payment, url } = await order(harness.merchant, amount);
  await onPage(url, 'pay');
  await confirmed(harness, payment.id, 'pay');
  return untilStatus(harness.merchant, payment.id, 'succeeded');
};

/** The alert of a kind about an operation, once it is raised. */
export const alertOf = ({ service }: LiveHarness, kind: string, subjectId: string): Promise<any> =>
  eventually(async () => {
    const { alerts } = await askGraph(
      service,
      '{ alerts(first: 100) { nodes { kind subjectId detail } } }',
    );
    return alerts.nodes.find((alert: any) => alert.kind === kind && alert.subjectId === subjectId);
  }, `the alert ${kind}`);

/**
 * Has the bank asked again about the harness's merchant's operation; gives what it is, or why the
 * bank is not asked.
 */
export const askAgain = async ({ service, merchant }: LiveHarness, id: string): Promise<string> => {
  const mutation =
    'mutation ($m: ID!, $id: ID!) { bankAskAgain(merchantId: $m, id: $id) { ... on BankAskedAgain { subject } ... on Refused { code } } }';
  const { subject, code } = (await askGraph(service, mutation, { m: merchant.id, id }))
    .bankAskAgain;
  return subject ?? code;
};
