/**
 * A charge that was begun and that payments never got (an outage, or a process that died) is not
 * made any more once its subscription was cancelled or paused, or its saved method revoked.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import type { Payments } from '../../subgraphs/recurring/ask-payments.ts';
import { chargeDue } from '../../subgraphs/recurring/subscriptions/charge-due.ts';
import {
  cancelSubscription,
  pauseSubscription,
} from '../../subgraphs/recurring/subscriptions/stop-subscription.ts';
import type { Subscription } from '../../subgraphs/recurring/entities.ts';
import { findCharges } from '../../subgraphs/recurring/find-recurring.ts';
import { cancelToken } from '../../subgraphs/recurring/tokens/bind-token.ts';
import { granted } from '../support/granted.ts';
import { openHarness, type Harness } from './harness.ts';
import {
  activeSubscription,
  chargingOf,
  followAll,
  readSubscription,
} from './subscription-life.ts';

let harness: Harness;
before(async () => void (harness = await openHarness()));
after(() => harness.close());

const now = (): Temporal.Instant => harness.call().now;
const chargesOf = async (subscription: Subscription): Promise<readonly string[]> => {
  const [found = []] = await findCharges(harness.database.pool, [subscription]);
  return found.map(({ period, attempt, status }) => `${period}.${attempt} ${status}`);
};

interface Begun {
  readonly key: KeyPrincipal;
  readonly subscription: Subscription;
}

/** A subscription whose second period is begun. `isMade`: its payment, whose answer was lost. */
const begin = async (isMade: boolean): Promise<Begun> => {
  const key = await harness.merchant();
  const subscription = await activeSubscription(harness, key);
  harness.pass({ hours: 32 * 24 });
  const away: Payments = {
    ...harness.payments,
    askCharge: async (request) => {
      if (isMade) await harness.payments.askCharge(request);
      throw Object.assign(new Error('away'), { extensions: { code: 'unavailable' } });
    },
  };
  await chargeDue({ ...chargingOf(harness), payments: away }, now);
  assert.deepEqual(await chargesOf(subscription), ['1.1 succeeded', '2.1 open']);
  return { key, subscription };
};

/** Payments are back. */
const goOn = async (): Promise<void> => {
  harness.pass({ hours: 5 });
  await chargeDue(chargingOf(harness), now);
  await followAll(harness);
};

const cancel = async ({ key, subscription: { id } }: Begun): Promise<unknown> =>
  granted(
    await cancelSubscription(
      harness.database.pool,
      harness.payments,
      key,
      { id, reason: null, requestId: 'test' },
      now(),
    ),
  );
const revoke = async ({ key, subscription: { tokenId } }: Begun): Promise<unknown> =>
  granted(
    await cancelToken(harness.parts, key, tokenId, {
      requestId: 'test',
      now: Temporal.Now.instant(),
    }),
  );
const pause = async ({ key: { merchantId }, subscription: { id } }: Begun): Promise<unknown> => {
  const acting = { principal: { kind: 'service', name: 'test' }, requestId: 'test', now } as const;
  const request = { merchantId, id, reason: null, at: now() };
  return granted(await pauseSubscription(harness.database, acting, request));
};

for (const [what, end, status] of [
  ['its subscription was cancelled', cancel, 'cancelled'],
  ['its saved method was revoked', revoke, 'active'],
  ['its subscription was paused', pause, 'paused'],
] as const)
  test(`once ${what}, a charge that payments never got is dropped; one that was made stays`, async () => {
    for (const isMade of [false, true]) {
      const begun = await begin(isMade);
      await end(begun);
      await goOn();
      assert.deepEqual(await chargesOf(begun.subscription), [
        '1.1 succeeded',
        isMade ? '2.1 succeeded' : '2.1 cancelled',
      ]);
      assert.equal((await harness.books(begun.key)).balance, isMade ? 20_000n : 10_000n);
      const after = await readSubscription(harness, begun.subscription);
      assert.equal(after.status, status);
    }
  });
