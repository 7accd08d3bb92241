/**
 * Route, key, allow-list, signature, live enabled, the merchant's rate limit, scope, body, and then
 * the operation.
 */
import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  issueKey,
  requireSignature,
  rotateSigningSecret,
  send,
  setAllowList,
  signed,
} from '../support/cabinet.ts';
import { makeMerchant, setRate } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { comesTo } from '../support/eventually.ts';

const service = await openPlainService();
after(() => service.stop());

const merchant = await makeMerchant(service);
const secret = await rotateSigningSecret(service, merchant);
await requireSignature(service, merchant, true);
await setAllowList(service, merchant, ['127.0.0.1']);

/**
 * What can be wrong with a request, each known by its code, in the order in which it must be found.
 */
const faults = [
  'not_found',
  'unauthorized',
  'ip_not_allowed',
  'signature_required',
  'live_not_enabled',
  'rate_limited',
  'scope_required',
  'bad_request',
] as const;
type Fault = (typeof faults)[number];

const keys = new Map<string, string>();
for (const mode of ['test', 'live'] as const) {
  for (const scopes of [[], ['api:payouts:sbp']])
    keys.set(`${mode} ${scopes.length}`, (await issueKey(service, merchant, mode, scopes)).secret);
}

/**
 * A request with these faults and no others. The merchant's limit is one request in a long while,
 * and that one is spent first where it shall be.
 */
const codeWith = async (wrong: ReadonlySet<Fault>): Promise<string> => {
  const key =
    keys.get(
      `${wrong.has('live_not_enabled') ? 'live' : 'test'} ${wrong.has('scope_required') ? 0 : 1}`,
    ) ?? assert.fail('no key');
  const body = wrong.has('bad_request')
    ? '{"amount":'
    : '{"amount":1,"phone":"+79161234567","bank_id":"100000000111"}';
  const headers = {
    'content-type': 'application/json',
    ...(wrong.has('signature_required') ? {} : { 'x-psp-signature': signed(secret, body) }),
  };
  const { code } = await send({
    url: `${service.rest}/v1/public/payouts${wrong.has('not_found') ? '/nowhere/at/all' : ''}`,
    key: wrong.has('unauthorized') ? `${key}x` : key,
    method: 'POST',
    from: wrong.has('ip_not_allowed') ? '127.0.0.2' : '127.0.0.1',
    headers,
    body,
  });
  return code;
};

/**
 * Leaves the merchant without a token: with a limit of one in a second, each answer that is none of
 * 429 spends one.
 */
const spend = async (): Promise<void> => {
  await setRate(service, merchant.id, { perSecond: 1, burst: 1 });
  await comesTo('rate_limited', () => codeWith(new Set()));
};

/** Lets the merchant call as often as it likes. */
const lift = async (): Promise<void> => {
  await setRate(service, merchant.id, { perSecond: 10_000, burst: 100_000 });
  await comesTo(false, async () => (await codeWith(new Set())) === 'rate_limited');
};

const codeOf = async (wrong: ReadonlySet<Fault>): Promise<string> => {
  await (wrong.has('rate_limited') ? spend() : lift());
  return codeWith(wrong);
};

/** A token comes each second: a call that meets it is made again. */
const assertFinds = async (fault: Fault, wrong: ReadonlySet<Fault>): Promise<void> => {
  if (fault === 'rate_limited') await comesTo<string>(fault, () => codeOf(wrong));
  else assert.equal(await codeOf(wrong), fault);
};

test('nothing of what is checked before is wrong with a request that reaches its operation', async () => {
  const code = await codeOf(new Set());
  assert(!faults.some((fault) => fault === code), code);
});

describe('each check by itself finds its fault', () => {
  for (const fault of faults) test(fault, () => assertFinds(fault, new Set([fault])));
});

describe('of two faults the earlier check’s is reported', () => {
  const pairs = faults.flatMap((earlier, index) =>
    faults.slice(index + 1).map((later) => [earlier, later] as const),
  );
  for (const [earlier, later] of pairs) {
    test(`${earlier} before ${later}`, () => assertFinds(earlier, new Set([earlier, later])));
  }
  test('all pairs were tried', () => assert.equal(pairs.length, 28));
});

test('of all faults at once, each is reported when the ones before it are corrected', async () => {
  const left = new Set<Fault>(faults);
  for (const fault of faults) {
    await assertFinds(fault, left);
    left.delete(fault);
  }
});
