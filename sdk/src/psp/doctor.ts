/** `psp doctor`: diagnoses a shop's connection to the service. */
import { ApiError, ConnectionError } from '../errors.ts';
import { apiVersion } from '../version.ts';
import type { Context } from './command.ts';
import { frozenSays, type TestClock } from './test-clock.ts';

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
}

/** The service takes signatures of this many seconds around its own time. */
const skewMax_s = 300;
/** A larger difference is reported. */
const skewNoticed_s = 5;

const checkService = async ({ url, stopped }: Context): Promise<readonly Finding[]> => {
  const began_ms = Date.now();
  const init = { redirect: 'error', signal: stopped } as const;
  const response = await fetch(`${url}/v1/public/balance`, init).catch(() => null);
  stopped.throwIfAborted();
  if (!response) return [{ what: 'service', ok: false, says: `nothing answers at ${url}` }];
  const took_ms = Date.now() - began_ms;
  const spoken = response.headers.get('x-api-version');
  const date = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds.
  const skew_s = Math.round((began_ms + took_ms / 2 - (date + 500)) / 1_000);
  const clock = Number.isNaN(date)
    ? { ok: false, says: 'the service does not say its time' }
    : { ok: Math.abs(skew_s) < skewMax_s, says: skewOf(skew_s) };
  return [
    { what: 'service', ok: true, says: `${url} answers in ${took_ms} ms` },
    {
      what: 'version',
      ok: spoken === apiVersion,
      says: `this command speaks ${apiVersion}, the service ${spoken ?? 'none'}`,
    },
    { what: 'clock', ...clock },
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
  return [{ what: 'test clock', ok: !clock.isFrozen, says }];
};

const checkKey = async ({ client, settings }: Context): Promise<readonly Finding[]> => {
  const error = await refusalOf(client().balance.get());
  const code = error instanceof ApiError ? error.code : null;
  const isSignature = code !== null && signatureCodes.includes(code);
  const mode = settings.apiKey?.startsWith('sk_live_') ? 'live' : 'test';
  const known = error === null || code === 'scope_required' || isSignature;
  const key = known
    ? `a ${mode} key${code === 'scope_required' ? ', which may not read the balance' : ''}`
    : (error?.message ?? '');
  const signed = settings.signingSecret === undefined ? 'calls are not signed' : 'calls are signed';
  return [
    { what: 'key', ok: known, says: key },
    { what: 'signature', ok: !isSignature, says: isSignature ? (error?.message ?? '') : signed },
  ];
};

/** The key's owner, as a payment names it. Nothing else depends on it. */
const findIds = async ({ client }: Context): Promise<Finding> => {
  const found = (says: string): Finding => ({ what: 'ids', ok: true, says });
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
const looked = 5;

/** Checks the event log, and the last webhooks. */
const checkWebhooks = async ({ client }: Context): Promise<readonly Finding[]> => {
  const api = client();
  const from = new Date(Date.now() - day_ms).toISOString().slice(0, 10);
  const ids: string[] = [];
  let count = 0;
  for await (const page of api.eventLog.list({ from, limit: 200 }).pages()) {
    count += page.items.length;
    ids.push(...page.items.map(({ id }) => id));
    ids.splice(0, Math.max(0, ids.length - looked));
    if (count >= 10_000) break;
  }
  const events = await Promise.all(ids.map((id) => api.eventLog.get(id)));
  const deliveries = events.flatMap((event) => event.deliveries);
  const undelivered = deliveries.filter(({ status }) => status !== 'delivered');
  const log = { what: 'event log', ok: true, says: `${count} events since ${from}` };
  if (deliveries.length === 0)
    return [
      log,
      { what: 'webhooks', ok: true, says: 'no endpoint was sent any of the last events' },
    ];
  const last = undelivered.at(-1);
  const why = last?.attempts.at(-1);
  const says = last
    ? `${undelivered.length} of ${deliveries.length} are not delivered: ${last.url} ${why?.error ?? why?.status ?? 'was not asked yet'}`
    : `the last ${deliveries.length} were delivered`;
  return [log, { what: 'webhooks', ok: undelivered.length === 0, says }];
};

/** All checks; those that depend on a failed one are left out. */
export const doctor = async (context: Context): Promise<readonly Finding[]> => {
  const service = await checkService(context);
  if (service.length === 1) return service;
  const key = await checkKey(context);
  if (key.some(({ ok }) => !ok)) return [...service, ...key];
  const webhooks = await checkWebhooks(context).catch((error: unknown) => {
    if (error instanceof ApiError)
      return [{ what: 'event log', ok: false, says: `${error.code}: ${error.message}` }];
    throw error;
  });
  const clock = checkTestClock(context.testClock());
  return [...service, ...key, ...clock, await findIds(context), ...webhooks];
};
