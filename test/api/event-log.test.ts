/** The event log over HTTP. Additions. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { looked_max_events } from '../../subgraphs/merchants/event-log/read-event-log.ts';
import { openPool } from '../support/database.ts';
import {
  askGraph,
  callRest,
  makeMerchant,
  openReceiver,
  type Merchant,
} from '../support/merchant.ts';
import { openPlainService, type ServiceInUse } from '../support/plain-service.ts';
import { eventually } from '../support/eventually.ts';
import { size } from '../support/size.ts';

let service: ServiceInUse;
let pool: pg.Pool;
before(async () => {
  service = await openPlainService();
  pool = openPool(service.databaseUrl, 2);
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

/** Creates a payment and cancels it: one event of the log. Gives the payment's id. */
const cancelOne = async (merchant: Merchant, metadata: object = {}): Promise<string> => {
  const made = await merchant.call('POST', '/payments', {
    amount: 10_000,
    method: 'sbp',
    metadata,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body.payment;
  assert.equal((await merchant.call('POST', `/payments/${id}/cancel`)).status, 200);
  return id;
};

interface Page {
  readonly items: readonly {
    id: string;
    event: string;
    created_at: string;
    data: { id: string };
  }[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

const read = async (merchant: Merchant, query = ''): Promise<Page> => {
  const { status, body } = await merchant.call('GET', `/event-log${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const subjectsOf = ({ items }: Page): readonly string[] => items.map(({ data }) => data.id);

/** Waits until the log has so many events; gives them. */
const logged = (merchant: Merchant, count: number): Promise<Page> =>
  eventually(async () => {
    const page = await read(merchant, '?limit=200');
    return page.items.length >= count && page;
  }, `${count} events in the log`);

/** Events as the relay leaves them, behind all others; `at`: SQL of their moment. */
const plant = async (
  merchant: Merchant,
  count: number,
  event: string,
  at = 'now()',
): Promise<void> => {
  await pool.query(
    `insert into event (merchant_id, id, shop_id, mode, subject_id, webhook_event, webhook_body, sequence, created_at)
     select $1, id, $2, 'test', gen_random_uuid(), $4, json_build_object('id', 'evt_' || id, 'event', $4::text, 'created_at', now(), 'data', json_build_object('id', n))::text,
       nextval('event_sequence_seq'), ${at} from (select gen_random_uuid() as id, n from generate_series(1, $3::int) as n) as made`,
    [merchant.id, merchant.shopId, count, event],
  );
};

describe('the event log', () => {
  test('is empty before anything happened, and its last_id is null', async () => {
    const merchant = await makeMerchant(service);
    assert.deepEqual(await read(merchant), { items: [], has_more: false, last_id: null });
  });

  test('has the bytes that an endpoint gets, and shows an event with its deliveries and attempts', async (t) => {
    const merchant = await makeMerchant(service);
    const receiver = await openReceiver((index) => (index === 0 ? 500 : 200));
    t.after(() => receiver.close());
    await merchant.endpoint(receiver.url);
    await cancelOne(merchant, { '10': 'ten', 2: 'two', b: 'ж', a: '\u2028</script>' });
    const { body, raw } = await receiver.until(() => true);
    const [item] = (await logged(merchant, 1)).items;
    assert.equal(JSON.stringify(item), raw);
    const attempted = await eventually(async () => {
      const answer = await merchant.call('GET', `/event-log/${body.id}`);
      return answer.body.deliveries?.[0]?.attempts.length > 0 && answer.body;
    }, 'the attempt');
    const { deliveries, ...event } = attempted;
    assert.equal(JSON.stringify(event), raw);
    const [{ url, status, attempts }] = deliveries;
    assert.deepEqual([deliveries.length, url, status], [1, receiver.url, 'pending']);
    assert.deepEqual(Object.keys(attempts[0]), ['at', 'duration_ms', 'status', 'error']);
    assert.equal(attempts[0].status, 500);
  });

  test('has events without an endpoint, oldest first, and reads on behind last_id, also from its end', async () => {
    const merchant = await makeMerchant(service);
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) ids.push(await cancelOne(merchant));
    assert.deepEqual(subjectsOf(await logged(merchant, 5)), ids);
    const first = await read(merchant, '?limit=2');
    assert.deepEqual([subjectsOf(first), first.has_more], [ids.slice(0, 2), true]);
    assert.equal(first.last_id, first.items[1]?.id);
    const rest = await read(merchant, `?limit=3&after=${first.last_id}`);
    assert.deepEqual([subjectsOf(rest), rest.has_more], [ids.slice(2), false]);
    const end = await read(merchant, `?after=${rest.last_id}`);
    assert.deepEqual(end, { items: [], has_more: false, last_id: rest.last_id });
    const sixth = await cancelOne(merchant);
    const next = await eventually(async () => {
      const page = await read(merchant, `?after=${end.last_id}`);
      return page.items.length > 0 && page;
    }, 'the sixth event');
    assert.deepEqual(subjectsOf(next), [sixth]);
    const [event] = next.items;
    const alone = await merchant.call('GET', `/event-log/${event?.id}`);
    assert.deepEqual(alone.body, { ...event, deliveries: [] });
  });

  test('is filtered by event, subject and day; a filter without events reads on all the same', async () => {
    const merchant = await makeMerchant(service);
    const today = new Date().toISOString().slice(0, 10);
    const [one, two] = [await cancelOne(merchant), await cancelOne(merchant)];
    await logged(merchant, 2);
    assert.deepEqual(subjectsOf(await read(merchant, `?subject_id=${two}`)), [two]);
    const both = await read(merchant, '?event=payment.succeeded,payment.cancelled&limit=1');
    assert.deepEqual([subjectsOf(both), both.has_more], [[one], true]);
    const none = await read(merchant, '?event=payout.failed');
    assert.deepEqual([none.items, none.has_more], [[], false]);
    assert.deepEqual(subjectsOf(await read(merchant, `?after=${none.last_id}`)), []);
    assert.equal((await read(merchant, `?from=${today}`)).items.length, 2);
    assert.equal((await read(merchant, '?to=2026-01-01')).items.length, 0);
  });

  test('with the end of the days last_id is not beyond them: the next days go on behind it', async () => {
    const merchant = await makeMerchant(service);
    await cancelOne(merchant);
    const [{ created_at } = assert.fail()] = (await logged(merchant, 1)).items;
    const day = (days: number): string =>
      new Date(Date.parse(created_at) + days * 86_400_000).toISOString().slice(0, 10);
    const [before, today, tomorrow] = [day(-1), day(0), day(1)];
    const dayLater = `timestamptz '${created_at}' + interval '1 day'`;
    await plant(merchant, 2, 'payout.succeeded', dayLater);
    const [first, second, third] = (await logged(merchant, 3)).items;
    const none = await read(merchant, `?to=${before}`);
    assert.deepEqual(none, { items: [], has_more: false, last_id: null });
    const ofToday = await read(merchant, `?to=${today}`);
    assert.deepEqual(ofToday, { items: [first], has_more: false, last_id: first?.id });
    const again = await read(merchant, `?to=${today}&after=${ofToday.last_id}`);
    assert.deepEqual(again, { items: [], has_more: false, last_id: first?.id });
    const filtered = await read(merchant, `?to=${today}&event=payout.succeeded`);
    assert.deepEqual(filtered, { items: [], has_more: false, last_id: first?.id });
    const next = await read(merchant, `?to=${tomorrow}&after=${ofToday.last_id}&limit=1`);
    assert.deepEqual(next, { items: [second], has_more: true, last_id: second?.id });
    const end = await read(merchant, `?from=${tomorrow}&after=${next.last_id}`);
    assert.deepEqual(end, { items: [third], has_more: false, last_id: third?.id });
    // A read of the days before them passes over the earlier ones.
    const from = await read(merchant, `?from=${tomorrow}&event=payment.failed`);
    assert.deepEqual(from, { items: [], has_more: false, last_id: third?.id });
  });

  test('refuses an after that is unknown, of another shop or of the other mode, and other mistakes', async () => {
    const [merchant, stranger] = [await makeMerchant(service), await makeMerchant(service)];
    await cancelOne(stranger);
    const [foreign] = (await logged(stranger, 1)).items;
    for (const query of [
      `after=evt_${randomUUID()}`,
      `after=${foreign?.id}`,
      'after=7',
      'limit=0',
      'limit=201',
      'event=payment.created',
      'from=yesterday',
      'subject_id=7',
      'cursor=abc',
    ]) {
      const { status, body } = await merchant.call('GET', `/event-log?${query}`);
      assert.deepEqual([status, body.error?.code], [400, 'bad_request'], query);
      const [name, value] = query.split('=');
      // The digits of one id in a thousand may be those of a card, and are not repeated.
      if (name === 'after' || name === 'subject_id')
        assert.match(
          body.error.message,
          new RegExp(
            `^${name}: expected .*, got ("${value}"|a string of ${value?.length} characters)$`,
          ),
        );
    }
    for (const id of [foreign?.id, `evt_${randomUUID()}`, foreign?.id.slice(4), 'evt_7', '7'])
      assert.equal((await merchant.call('GET', `/event-log/${id}`)).status, 404, `${id}`);
  });

  test('a live key reads no test events, and a key without the scope nothing', async () => {
    const merchant = await makeMerchant(service);
    await cancelOne(merchant);
    const [event] = (await logged(merchant, 1)).items;
    const names = { m: merchant.id, s: merchant.shopId };
    const keyOf = async (rest: string): Promise<string> =>
      (
        await askGraph(
          service,
          `mutation ($m: ID!, $s: ID!) { apiKeyIssue(merchantId: $m, shopId: $s, ${rest}) { ... on ApiKeyIssued { secret } } }`,
          names,
        )
      ).apiKeyIssue.secret;
    await askGraph(
      service,
      `mutation ($m: ID!) { merchantLiveEnable(merchantId: $m) { __typename } }`,
      names,
    );
    const live = { rest: service.rest, key: await keyOf('mode: live') };
    assert.deepEqual((await callRest(live, 'GET', '/event-log')).body.items, []);
    assert.equal((await callRest(live, 'GET', `/event-log?after=${event?.id}`)).status, 400);
    assert.equal((await callRest(live, 'GET', `/event-log/${event?.id}`)).status, 404);
    const narrow = {
      rest: service.rest,
      key: await keyOf('mode: test, scopes: ["api:balance:read"]'),
    };
    for (const path of ['/event-log', `/event-log/${event?.id}`])
      assert.equal((await callRest(narrow, 'GET', path)).body.error.code, 'scope_required');
  });

  test('a person reads the log of a shop that it names', async () => {
    const merchant = await makeMerchant(service);
    const id = await cancelOne(merchant, { note: 'card 4111 1111 1111 1111' });
    await logged(merchant, 1);
    const query = `query ($m: ID, $s: ID) { eventLog(merchantId: $m, shopId: $s, mode: test) { items { id event data deliveries { url } } hasMore lastId } }`;
    const { eventLog } = await askGraph(service, query, { m: merchant.id, s: merchant.shopId });
    const [item] = eventLog.items;
    assert.deepEqual([item.event, item.data.id, item.deliveries], ['payment_cancelled', id, []]);
    assert.ok(!JSON.stringify(item.data).includes('4111 1111 1111'));
    await assert.rejects(askGraph(service, query, { m: merchant.id }), /shopId: required/);
  });

  test('who polls by last_id while ten write sees every event once', async () => {
    const merchant = await makeMerchant(service);
    const rounds = size(6, 15);
    const made: string[] = [];
    const writing = new AbortController();
    const writers = Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let round = 0; round < rounds; round += 1) made.push(await cancelOne(merchant));
      }),
    ).finally(() => writing.abort());
    const seen: string[] = [];
    let after = '';
    const poll = async (): Promise<void> => {
      const page = await read(merchant, `?limit=7${after}`);
      seen.push(...subjectsOf(page));
      if (page.last_id) after = `&after=${page.last_id}`;
    };
    while (!writing.signal.aborted) {
      await poll();
      await sleep(5);
    }
    await writers;
    await eventually(async () => {
      await poll();
      return seen.length >= made.length;
    }, 'the last events');
    assert.equal(made.length, 10 * rounds);
    assert.deepEqual(seen.toSorted(), made.toSorted());
  });

  test('a page looks at a bounded part of a long log: with a rare filter it leads on', async () => {
    const merchant = await makeMerchant(service);
    await plant(merchant, looked_max_events, 'payout.succeeded');
    const id = await cancelOne(merchant);
    await eventually(
      async () => (await read(merchant, `?subject_id=${id}`)).has_more,
      'the event behind the long log',
    );
    const first = await read(merchant, '?event=payment.cancelled');
    assert.deepEqual([first.items, first.has_more], [[], true]);
    const second = await read(merchant, `?event=payment.cancelled&after=${first.last_id}`);
    assert.deepEqual([subjectsOf(second), second.has_more], [[id], false]);
  });
});
