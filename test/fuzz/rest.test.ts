/**
 * Every route of the REST API under requests of every kind: no 500, no hang, no leak, and books
 * that are right afterwards.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  readContract,
  type ContractOperation,
  type Parameter,
} from '../../rest-facade/read-contract.ts';
import { signed } from '../support/cabinet.ts';
import { assertDescribed } from '../support/described-answer.ts';
import { isLong, size } from '../support/size.ts';
import { searching } from './cases.ts';
import type { Came, Sent } from './exchange.ts';
import { cardNumbers, damaged, fitting, mutated, oddText } from './odd-values.ts';
import { allIds, closing, openFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
before(async () => void (fixture = await openFixture()));
after(() => fixture?.close());

/** A body can be wrong in more ways than a query. With fewer, hardly a link is created. */
const cases = size({ withBody: 150, without: 20 }, { withBody: 400, without: 50 });

/** What Node's client lets into a header. */
const headerText = oddText.map((text) =>
  text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?').slice(0, 5_000),
);
const mostly = <Value>(
  usual: fc.Arbitrary<Value>,
  odd: fc.Arbitrary<Value>,
  weight = 12,
): fc.Arbitrary<Value> => fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** Who calls: mostly the merchant. The key's holes are known when the fixture is open. */
const authorization = mostly<(key: string) => string | readonly string[] | undefined>(
  fc.constant((key) => `Bearer ${key}`),
  fc.oneof(
    fc.constantFrom<(key: string) => string | readonly string[] | undefined>(
      () => undefined,
      (key) => key,
      (key) => `bearer  ${key}`,
      (key) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      (key) => [`Bearer ${key}`, `Bearer ${key}`],
      (key) => `Bearer ${key.slice(0, -1)}`,
      (key) => `Bearer ${key}\xff`,
    ),
    headerText.map((text) => () => `Bearer ${text}`),
  ),
);

type Signature = 'none' | 'right' | 'wrong';
const signature = mostly<Signature>(fc.constantFrom('none', 'none', 'right'), fc.constant('wrong'));

const oddHeaders: fc.Arbitrary<Record<string, string | readonly string[]>> = fc.record(
  {
    'idempotency-key': mostly(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(headerText, fc.constant('k'.repeat(65))),
    ),
    'content-encoding': fc.oneof(fc.constantFrom('identity', 'gzip', 'br'), headerText),
    'x-request-id': headerText,
    'last-event-id': fc.oneof(headerText, fc.constantFrom('0', '999999999999999999', '-1')),
    accept: fc.oneof(headerText, fc.constantFrom('text/csv', '*/*')),
    expect: headerText,
    origin: headerText,
    range: fc.constant('bytes=0-1'),
    'if-none-match': fc.constant('*'),
    'x-http-method-override': fc.constant('DELETE'),
  },
  { requiredKeys: [] },
);

const contentType = mostly<string | undefined>(
  fc.constant('application/json'),
  fc.oneof(
    fc.constantFrom(
      undefined,
      'application/json; charset=utf-16',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      '',
    ),
    headerText,
  ),
);

const queryText = (parameters: readonly Parameter[]): fc.Arbitrary<string> => {
  const named = parameters.filter(({ in: place }) => place === 'query');
  const pair = fc.oneof(
    ...named.map(({ name, schema }) =>
      mostly(fitting(schema), oddText, 2).map(
        (value) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`,
      ),
    ),
    fc
      .tuple(oddText, oddText)
      .map(([name, value]) =>
        [name, value].map((text) => encodeURIComponent(text.toWellFormed())).join('='),
      ),
    fc.constantFrom(
      'limit=%',
      '%FF=1',
      'a[b]=c',
      '&&',
      'limit=1&limit=2',
      'cursor=%00',
      '__proto__=1',
    ),
  );
  const some = fc.array(pair, { minLength: 1, maxLength: 3 }).map((pairs) => `?${pairs.join('&')}`);
  return fc.oneof(
    { weight: named.length > 0 ? 1 : 8, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: some },
  );
};

type Identity = { readonly whose: 'own' | 'anybody'; readonly which: number } | string;

/** Which of the ids that the path takes, of any of the ids, or another text. */
const identity = mostly<Identity>(
  fc.record({ whose: fc.constantFrom('own', 'own', 'anybody'), which: fc.nat() }),
  fc.oneof(
    fc.uuid(),
    fc.constantFrom(
      '..',
      '%2e%2e',
      '%00',
      '%',
      '%FF',
      'a%2Fb',
      '00000000-0000-0000-0000-000000000000',
      '',
      ';',
      '\xff',
    ),
    oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  ),
  5,
);

const methods = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'GET', 'POST'];

const idFor = (chosen: Identity, noun: string): string => {
  if (typeof chosen === 'string') return chosen;
  const { merchant, stranger } = fixture;
  const anybody = [...allIds(merchant.ids), ...allIds(stranger.ids)];
  const ids = chosen.whose === 'own' ? (merchant.ids[noun] ?? anybody) : anybody;
  return ids[chosen.which % ids.length] ?? '';
};

/** A body that fits; sums that agree do not come by chance. */
const fittingBody = (
  operationId: string,
  body: ContractOperation['body'],
): fc.Arbitrary<unknown> => {
  if (!body) return fc.constant({});
  const any = fitting(body.schema);
  return operationId === 'CloseReceipt' ? fc.oneof(fc.constant(closing), any) : any;
};

/** Requests to one route. The fixture is looked into when a request is made. */
const requestsTo = ({
  operationId,
  method,
  path,
  parameters,
  body,
}: ContractOperation): fc.Arbitrary<() => Sent> => {
  const bodies = damaged(
    mutated(fittingBody(operationId, body)).map((value) => JSON.stringify(value) ?? ''),
    12,
  );
  const noBody = fc.constant(null);
  return fc
    .record({
      method: mostly(fc.constant<string>(method), fc.constantFrom(...methods), 15),
      identity,
      query: queryText(parameters),
      authorization,
      signature,
      contentType,
      headers: mostly(fc.constant({}), oddHeaders),
      body: body ? mostly<Buffer | null>(bodies, noBody, 20) : mostly(noBody, bodies, 4),
      from: fc.ipV4(),
    })
    .map((made) => () => {
      const { merchant } = fixture;
      const [noun = '', verb = ''] = [path.split('/')[3], path.split('/')[5]];
      const id = idFor(made.identity, verb in merchant.ids ? verb : noun);
      const authorized = made.authorization(merchant.key);
      const sign = {
        none: {},
        right: { 'x-psp-signature': signed(merchant.signingSecret, made.body ?? '') },
        wrong: { 'x-psp-signature': 'sha256=0' },
      };
      const headers = {
        'x-forwarded-for': made.from,
        ...(authorized === undefined ? {} : { authorization: authorized }),
        ...(made.body === null || made.contentType === undefined
          ? {}
          : { 'content-type': made.contentType }),
        ...sign[made.signature],
        ...made.headers,
      };
      return {
        method: made.method,
        path: `${path.replace('{id}', id)}${made.query}`,
        headers,
        body: made.body,
      };
    });
};

/**
 * What any route may answer, though the description of one does not name it: the address, the
 * method or the bytes are wrong.
 */
const common = [404, 405, 413, 415, 417, 431];

const isJson = ({ headers }: Came): boolean =>
  headers['content-type']?.startsWith('application/json') ?? false;

/** Holds one answer to everything that every answer must be. */
const judge = (sent: Sent, came: Came): void => {
  const { status, headers, text } = came;
  const received = `${sent.method} ${sent.path} ${JSON.stringify(sent.headers)} ${sent.body?.subarray(0, 2_000).toString()} -> ${status} ${text.slice(0, 1_000)} ${fixture.logOf(came)}`;
  assert.ok(status >= 200 && status < 500, received);
  assert.match(String(headers['x-request-id']), /^[\w.:-]{1,128}$/, received);
  assert.equal(fixture.leakIn(text), null, received);
  // The log of requests shows the caller's own words.
  const isEcho = sent.path.startsWith('/v1/public/requests');
  for (const id of isEcho ? [] : [fixture.stranger.id, ...allIds(fixture.stranger.ids)])
    assert.ok(!text.includes(id), `a stranger's id: ${received}`);
  if (status >= 400)
    assert.ok(!cardNumbers.some((number) => text.includes(number)), `a card's number: ${received}`);
  if (sent.method === 'HEAD') return;
  const body: unknown = isJson(came) ? JSON.parse(text) : null;
  if (status >= 400) assert.ok(body, `no envelope: ${received}`);
  // Another path than the route's has no description, so that the envelope alone is asked for.
  assertDescribed(sent.method, common.includes(status) ? '/' : sent.path, { status, body });
};

describe('a route answers whatever it is asked within its description, gives nothing away and leaves the books right', () => {
  for (const operation of readContract().operations.values()) {
    test(`${operation.method} ${operation.path}`, async (t) => {
      const seen = new Map<number, number>();
      const property = fc.asyncProperty(requestsTo(operation), async (make) => {
        const sent = make();
        const came = await fixture.exchange(sent);
        seen.set(came.status, (seen.get(came.status) ?? 0) + 1);
        judge(sent, came);
      });
      await fc.assert(property, searching(t, operation.body ? cases.withBody : cases.without));
      t.diagnostic(
        [...seen]
          .toSorted(([one], [other]) => one - other)
          .map(([status, times]) => `${status}: ${times}`)
          .join(', '),
      );
      // The short run goes the same way each time; by another way no case may be granted.
      assert.ok(isLong || [...seen.keys()].some((status) => status < 300), 'nothing was granted');
      assert.ok(
        [...seen.keys()].some((status) => status >= 400),
        'nothing was refused',
      );
    });
  }

  test('the service is well afterwards', () => fixture.assertWell());
});
