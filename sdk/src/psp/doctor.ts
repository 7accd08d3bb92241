/** `psp doctor`: diagnoses a shop's connection to the service. */
import type { PaymentClient } from '../client.ts';
import { ApiError, ConnectionError } from '../errors.ts';
import { type WebhookEventName, apiVersion } from '../schemas.ts';
import type { Context } from './command.ts';
import { Failure } from './failure.ts';
import { askGraph, operatorGraphOf, frozenSays, type TestClock } from './operator-graph.ts';
import { second } from './shared-options.ts';

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
}

const finding = (what: string, ok: boolean, says: string): Finding => ({ what, ok, says });

/** A check and its name, under which a refused call is reported. */
type Check = readonly [what: string, run: () => Promise<readonly Finding[]>];

/** Makes the checks; what the key may not read is named and counts as not right. */
const findAll = async (checks: readonly Check[]): Promise<readonly Finding[]> => {
  const found = checks.map(([what, run]) =>
    run().catch((error: unknown) => {
      if (error instanceof ApiError)
        return [finding(what, false, `${error.code}: ${error.message}`)];
      if (error instanceof Failure && error.kind === 'refused')
        return [finding(what, false, error.message)];
      throw error;
    }),
  );
  return (await Promise.all(found)).flat();
};

/** The service takes signatures of this many seconds around its own time. */
const skewMax_s = 300;
const skewNoticed_s = 5;

const checkService = async ({ url, stopped }: Context): Promise<readonly Finding[]> => {
  const began_ms = Date.now();
  const init = { redirect: 'error', signal: stopped } as const;
  const response = await fetch(`${url}/v1/public/balance`, init).catch(() => null);
  stopped.throwIfAborted();
  if (!response) return [finding('service', false, `nothing answers at ${url}`)];
  const took_ms = Date.now() - began_ms;
  const spoken = response.headers.get('x-api-version');
  const date = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds.
  const skew_s = Math.round((began_ms + took_ms / 2 - (date + 500)) / 1_000);
  const clock = Number.isNaN(date)
    ? finding('clock', false, 'the service does not say its time')
    : finding('clock', Math.abs(skew_s) < skewMax_s, skewOf(skew_s));
  return [
    finding('service', true, `${url} answers in ${took_ms} ms`),
    finding(
      'version',
      spoken === apiVersion,
      `this command speaks ${apiVersion}, the service ${spoken ?? 'none'}`,
    ),
    clock,
  ];
};

const skewOf = (skew_s: number): string =>
  Math.abs(skew_s) <= skewNoticed_s
    ? 'this clock is right'
    : `this clock is ${Math.abs(skew_s)} s ${skew_s > 0 ? 'ahead' : 'behind'}; signatures may be off by ${skewMax_s} s`;

/** The text of a refused call; null when it succeeded. */
const refusalOf = async (call: Promise<unknown>): Promise<ApiError | ConnectionError | null> =>
  call.then(
    () => null,
    (error: unknown) => {
      if (error instanceof ApiError || error instanceof ConnectionError) return error;
      throw error;
    },
  );

const signatureCodes = ['signature_required', 'invalid_signature'];

const checkTestClock = (clock: TestClock | null): readonly Finding[] => {
  if (!clock) return [];
  const says = clock.isFrozen
    ? frozenSays(clock)
    : `the shop lives by a test clock, which showed ${clock.at}`;
  return [finding('test clock', !clock.isFrozen, says)];
};

const checkKey = async ({ client, settings }: Context): Promise<readonly Finding[]> => {
  const error = await refusalOf(client().balance.get());
  const code = error instanceof ApiError ? error.code : null;
  const isSignature = code !== null && signatureCodes.includes(code);
  const mode = settings.apiKey?.startsWith('sk_live_') ? 'live' : 'test';
  const known = error === null || code === 'scope_required' || isSignature;
  if (!known) {
    const hint = code === 'unauthorized' ? ' Run psp login, or set PSP_API_KEY' : '';
    return [finding('key', false, `${error.message}${hint}`)];
  }
  const key = `a ${mode} key${code === 'scope_required' ? ', which may not read the balance' : ''}`;
  const signs = settings.signingSecret !== undefined;
  const refusal = signs
    ? "PSP_SIGNING_SECRET is not the shop's secret, or this clock is wrong"
    : 'the shop demands signed calls: set PSP_SIGNING_SECRET, or run psp login --signing-secret';
  const signed = signs ? 'calls are signed' : 'calls are not signed';
  return [
    finding('key', true, key),
    finding('signature', !isSignature, isSignature ? refusal : signed),
  ];
};

/** The key's owner, as a payment names it. Nothing else depends on it. */
const findIds = async ({ client }: Context): Promise<Finding> => {
  const found = (says: string): Finding => finding('ids', true, says);
  try {
    const [payment] = await client().payments.list({ limit: 1 }).first(1);
    if (!payment) return found('merchant and shop are named once there is a payment');
    return found(`merchant ${payment.merchant_id}, shop ${payment.shop_id}`);
  } catch (error) {
    if (error instanceof ApiError) return found(`${error.code}: ${error.message}`);
    throw error;
  }
};

const day_ms = 86_400_000;
const dayBefore = (days: number): string =>
  new Date(Date.now() - days * day_ms).toISOString().slice(0, 10);

/** A shop under a load test has more; the last of these are enough to judge by. */
const readMax = 10_000;
const looked = 20;

/** Reads how many events the log has of the last days, and the deliveries of its last ones. */
const readLastDeliveries = async (
  client: PaymentClient,
  days: number,
  event: readonly WebhookEventName[],
) => {
  const from = dayBefore(days);
  const ids: string[] = [];
  let count = 0;
  const list = client.eventLog.list({
    from,
    limit: 200,
    ...(event.length > 0 ? { event: [...event] } : {}),
  });
  for await (const page of list.pages()) {
    count += page.items.length;
    ids.push(...page.items.map(({ id }) => id));
    ids.splice(0, Math.max(0, ids.length - looked));
    if (count >= readMax) break;
  }
  const events = await Promise.all(ids.map((id) => client.eventLog.get(id)));
  const deliveries = events.flatMap((one) => one.deliveries.map((of) => ({ ...of, id: one.id })));
  return { from, count, deliveries };
};

/** Checks the event log, and each endpoint that the last events were sent to. */
const checkWebhooks = async (client: PaymentClient): Promise<readonly Finding[]> => {
  const { from, count, deliveries } = await readLastDeliveries(client, 1, []);
  const more = count >= readMax ? ' or more' : '';
  const log = finding('event log', true, `${count}${more} events since ${from}`);
  const found = (ok: boolean, says: string): Finding => finding('webhooks', ok, says);
  if (deliveries.length === 0)
    return [log, found(true, 'no endpoint was sent any of the last events')];
  // One that was not tried yet is on its way.
  const failing = deliveries.filter((of) => of.status !== 'delivered' && of.attempts.length > 0);
  if (failing.length === 0)
    return [log, found(true, `none of the last ${deliveries.length} has failed`)];
  const urls = new Set(failing.map(({ url }) => url));
  return [
    log,
    ...[...urls].map((url) => {
      const own = failing.filter((of) => of.url === url);
      const all = deliveries.filter((of) => of.url === url).length;
      const last = own.at(-1);
      const attempt = last?.attempts.at(-1);
      const why = attempt?.error ?? `it answered ${attempt?.status}`;
      return found(
        false,
        `${url} did not take ${own.length} of the last ${all}: ${why} (${last?.id})`,
      );
    }),
  ];
};

const routeCodes = ['route_not_configured', 'method_unsupported'];

/** Whether calls were refused because no acquirer of the shop serves what they asked for. */
const checkRoutes = async (client: PaymentClient): Promise<readonly Finding[]> => {
  const from = dayBefore(1);
  const calls = await client.requests.list({ from, status: ['422'], limit: 200 }).first(200);
  const lacking = calls.filter(({ code }) => code !== null && routeCodes.includes(code));
  const [last] = lacking;
  const says = last
    ? `${lacking.length} refused since ${from} for lack of an acquirer, the last at ${second(last.at)}: ${last.code} (psp logs ${last.id})`
    : `none refused since ${from} for lack of an acquirer`;
  return [finding('routes', !last, says)];
};

/** All checks; those that depend on a failed one are left out. */
export const doctor = async (context: Context): Promise<readonly Finding[]> => {
  const service = await checkService(context);
  if (service.length === 1) return service;
  const key = await checkKey(context);
  if (key.some(({ ok }) => !ok)) return [...service, ...key];
  const client = context.client();
  const rest = await findAll([
    ['ids', async () => [await findIds(context)]],
    ['event log', () => checkWebhooks(client)],
    ['routes', () => checkRoutes(client)],
  ]);
  return [...service, ...key, ...checkTestClock(context.testClock()), ...rest];
};

// `psp doctor --live`: what a shop has still to do before it takes real money. In test mode: what
// its program has not met yet. In live mode: what is not set.

/** What a shop's program should have met in test mode, and how it is made to happen. */
const rehearsed = ['payment.succeeded', 'payment.failed', 'payment.refunded'] as const;

const haveHappened = async (client: PaymentClient): Promise<readonly Finding[]> =>
  Promise.all(
    rehearsed.map(async (event) => {
      const [found] = await client.eventLog.list({ event: [event] }).first(1);
      const says = found ? `met on ${found.created_at.slice(0, 10)}` : `try psp trigger ${event}`;
      return finding(event, found !== undefined, says);
    }),
  );

/** Whether the last events of these kinds have reached an endpoint. */
const haveArrived = async (
  client: PaymentClient,
  events: readonly WebhookEventName[],
): Promise<Finding> => {
  const found = (ok: boolean, says: string): Finding => finding('delivered webhooks', ok, says);
  const { deliveries } = await readLastDeliveries(client, 7, events);
  const lost = deliveries.filter(({ status }) => status === 'failed');
  if (lost.length > 0) return found(false, `${lost.length} were given up: ${lost[0]?.url ?? ''}`);
  const taken = deliveries.filter(({ status }) => status === 'delivered');
  return taken.length > 0
    ? found(true, `${taken.length} of the last were taken`)
    : found(false, 'none was: add an endpoint, or read the event log');
};

interface ShopState {
  readonly requireSignature: boolean;
  readonly merchant: { readonly liveEnabled: boolean };
}

/** What is set for the shop, by its own key; null where the graph does not answer. */
const readShop = async ({ send }: Context, ids: ShopIds): Promise<ShopState | null> => {
  const query =
    'query ($m: ID!, $s: ID!) { shop(merchantId: $m, id: $s) { requireSignature merchant { liveEnabled } } }';
  const variables = { m: ids.merchant_id, s: ids.shop_id };
  const call = { method: 'POST', path: '/graphql', body: { query, variables } } as const;
  const answer = await send()(call, (response) => response.json());
  // The query selects no more than this.
  return (answer as { readonly data?: { readonly shop: ShopState | null } }).data?.shop ?? null;
};

interface ShopIds {
  readonly merchant_id: string;
  readonly shop_id: string;
}

const checkShop = async (context: Context, client: PaymentClient): Promise<readonly Finding[]> => {
  const [payment] = await client.payments.list({ limit: 1 }).first(1);
  const shop = payment ? await readShop(context, payment) : null;
  if (!shop) return [finding('shop', false, 'it has no payment yet to be found by')];
  const {
    requireSignature: signs,
    merchant: { liveEnabled: live },
  } = shop;
  return [
    finding('signed requests', signs, signs ? 'demanded' : 'not demanded: the key alone is enough'),
    finding('live mode', live, live ? 'enabled' : 'not enabled: ask the operator'),
  ];
};

interface BankRoute {
  readonly operation: string;
  readonly method: string;
  readonly active: boolean;
}

/** Which acquirers' routes live mode has. Keys do not see them: a person's token is needed. */
const checkLiveRoutes = async (
  context: Context,
  client: PaymentClient,
): Promise<readonly Finding[]> => {
  const found = (ok: boolean, says: string) => [finding('live routes', ok, says)];
  if (!context.env['PSP_OPERATOR_TOKEN'])
    return found(false, 'only people see them: set PSP_OPERATOR_TOKEN to a token of your own');
  const [payment] = await client.payments.list({ limit: 1 }).first(1);
  if (!payment) return found(false, 'the shop has no payment yet to be found by');
  const { bankRoutes } = await askGraph<{ bankRoutes: { nodes: readonly BankRoute[] } }>(
    operatorGraphOf(context, 'reading routes'),
    'the routes',
    {
      query: `query ($m: ID, $s: ID) { bankRoutes(merchantId: $m, shopId: $s, first: 200) {
        nodes { operation method active } } }`,
      variables: { m: payment.merchant_id, s: payment.shop_id },
    },
    context.stopped,
  );
  const routes = bankRoutes.nodes.filter(({ active }) => active);
  const served = [...new Set(routes.map(({ operation, method }) => `${operation} by ${method}`))];
  const takesPayments = routes.some(({ operation }) => operation === 'payment');
  const lacking = takesPayments ? '' : 'no acquirer takes payments: ask the operator';
  return found(takesPayments, [lacking, served.join(', ')].filter(Boolean).join('; it has '));
};

const checkRates = async (client: PaymentClient): Promise<Finding> => {
  const { rates } = await client.rates.list();
  const methods = [...new Set(rates.map(({ method }) => method))];
  const says = methods.length > 0 ? methods.join(', ') : 'none has a rate: ask the operator';
  return finding('methods', methods.length > 0, says);
};

/** The list; what the key may not read is named and counts as open. */
export const checkReadiness = async (context: Context): Promise<readonly Finding[]> => {
  const client = context.client();
  const isLive = context.settings.apiKey?.startsWith('sk_live_') ?? false;
  const checks: readonly Check[] = [
    ['events', async () => (isLive ? [] : haveHappened(client))],
    ['webhooks', async () => (isLive ? [] : [await haveArrived(client, rehearsed)])],
    ['shop', () => checkShop(context, client)],
    ['live routes', () => checkLiveRoutes(context, client)],
    ['methods', async () => [await checkRates(client)]],
  ];
  return findAll(checks);
};
