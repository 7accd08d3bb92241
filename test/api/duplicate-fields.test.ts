import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { duplicateField, readBody } from '../../gateway/graphql/raw-body.ts';
import { isLong, size } from '../support/size.ts';
import { openSmallEdge, type SmallEdge } from './small-edge.ts';

const mistakeIn = (text: string): string | null => {
  const read = readBody(Buffer.from(text));
  return 'mistake' in read ? read.mistake : null;
};

describe('a field that comes twice in a body', () => {
  const rows: readonly (readonly [body: string, field: string])[] = [
    ['{"amount":100,"amount":200}', 'amount'],
    ['{"amount":100,"amount":100}', 'amount'],
    ['{"amount":100,"\\u0061mount":200}', 'amount'],
    ['{"amount" \n:100, "x":"\\"amount\\":", "amount"\t: 200}', 'amount'],
    ['{"metadata":{"a":"1","b":"2","a":"3"}}', 'metadata.a'],
    ['{"metadata":{"a":"1"},"amount":1,"metadata":{}}', 'metadata'],
    ['{"items":[{"amount":1},{"amount":1,"phone":"x","phone":"y"}]}', 'items[1].phone'],
    ['[[],[{"a":1,"a":1}]]', '[1][0].a'],
    ['{"a":{"b":[1,{"c":{"d":1,"e":[],"d":2}}]}}', 'a.b[1].c.d'],
    ['{"a\\\\":1,"a\\\\":2}', 'a field with an unusual name'],
    ['{"4111111111111111":1,"4111111111111111":1}', 'a field with an unusual name'],
    ['{"amount":100.5,"amount":2}', 'amount'],
    ['{"amount":9007199254740993,"amount":2}', 'amount'],
  ];
  for (const [body, field] of rows) {
    test(`is named: ${body}`, () =>
      assert.equal(mistakeIn(body), `${field}: expected once, got several`));
  }

  test('is refused whatever its name', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '']) {
      assert.ok(mistakeIn(`{${JSON.stringify(name)}:1,${JSON.stringify(name)}:2}`), name);
    }
  });

  test('is not taken for one where the same name is in another object, or in a text', () => {
    const body =
      '{"a":{"amount":1},"b":[{"amount":1},{"amount":2}],"c":"\\"amount\\":1,\\"amount\\":","amount":"\\\\\\"","":"","constructor":1}';
    assert.equal(mistakeIn(body), null);
    for (const text of ['"a"', '1', 'null', 'true', '[]', '{}', '["a","a"]', '[":",":"]'])
      assert.equal(mistakeIn(text), null, text);
  });

  test('is found in whatever JSON, and nothing else is', () => {
    const holder = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(fc.jsonValue(), holder, fc.jsonValue(), (around, object, again) => {
        const plain = JSON.stringify([around, object]);
        assert.equal(duplicateField(plain), null);
        const [name = ''] = Object.keys(object);
        const twice = `[${JSON.stringify(around)}, ${JSON.stringify(object).slice(0, -1)} ,${JSON.stringify(name)} : ${JSON.stringify(again)}}]`;
        assert.deepEqual(duplicateField(twice), [1, name]);
      }),
      { numRuns: size(500, 5_000), ...(isLong ? {} : { seed: 20_261_126 }) },
    );
  });

  test('is looked for in texts as deep and as long as a body may be', () => {
    for (const text of [
      '['.repeat(120_000) + ']'.repeat(120_000),
      JSON.stringify('\\"'.repeat(120_000)),
      `{"a":"${'\\\\'.repeat(100_000)}"}`,
    ]) {
      assert.equal(duplicateField(text), null);
    }
    const many = `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`).join(',')},"k7":1}`;
    assert.deepEqual(duplicateField(many), ['k7']);
  });
});

describe('a request with a field that comes twice', () => {
  let edge: SmallEdge;
  before(async () => {
    edge = await openSmallEdge({});
  });
  after(() => edge.close());

  test('is 400 bad_request, and nothing is asked for it', async () => {
    const response = await fetch(`${edge.url}/v1/public/payments`, {
      method: 'POST',
      headers: { authorization: 'Bearer test', 'content-type': 'application/json' },
      body: '{"amount":100,"order_id":"A-1","amount":1}',
    });
    const { error }: any = await response.json();
    assert.deepEqual(
      [response.status, error.code, error.message],
      [400, 'bad_request', 'amount: expected once, got several'],
    );
  });
});
