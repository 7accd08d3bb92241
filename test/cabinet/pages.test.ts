/** Pages of the cabinet's lists, read in both directions as a table on a screen reads them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cabinetUser, makeFixture, openCabinet, type Cabinet } from './cabinet.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const list = `query ($text: String, $first: Int, $after: String, $last: Int, $before: String) {
  merchants(name: $text, first: $first, after: $after, last: $last, before: $before) {
    nodes { name } pageInfo { hasNextPage endCursor hasPreviousPage startCursor } } }`;
const read = async (variables: object) => {
  const { merchants } = await cabinet.ask(list, variables);
  const names: string[] = merchants.nodes.map(({ name }: { name: string }) => name);
  return { names, ...merchants.pageInfo };
};
const make = (name: string) => makeFixture(cabinet, undefined, name);

describe('a list', () => {
  before(async () => {
    for (const number of [1, 2, 3, 4, 5]) {
      await make(`Tea ${number}`);
      await make(`Cake ${number}`);
    }
  });

  test('has the same rows in the same order there and back, while rows are inserted', async () => {
    const there: string[][] = [];
    let page = await read({ text: 'tea', first: 2 });
    assert.deepEqual([page.hasPreviousPage, page.startCursor], [false, null]);
    for (there.push(page.names); page.hasNextPage; there.push(page.names)) {
      await make('Tea, new');
      page = await read({ text: 'tea', first: 2, after: page.endCursor });
      assert.equal(page.hasPreviousPage, true);
    }
    assert.deepEqual(there, [['Tea 5', 'Tea 4'], ['Tea 3', 'Tea 2'], ['Tea 1']]);
    assert.equal(page.endCursor, null, 'the last page');
    const back = [page.names];
    while (back.length < there.length) {
      await make('Tea, newer');
      page = await read({ text: 'tea', last: 2, before: page.startCursor });
      assert.equal(page.hasNextPage, true);
      back.unshift(page.names);
    }
    assert.deepEqual(back, there);
    page = await read({ text: 'tea', last: 50, before: page.startCursor });
    assert.deepEqual(page.names.toSorted(), ['Tea, new', 'Tea, new', 'Tea, newer', 'Tea, newer']);
    assert.deepEqual([page.hasPreviousPage, page.startCursor], [false, null]);
  });

  test('is read from its end, and a page back leads on to the one that it came from', async () => {
    const end = await read({ text: 'cake', last: 2 });
    assert.deepEqual(end.names, ['Cake 2', 'Cake 1']);
    assert.deepEqual([end.hasNextPage, end.endCursor, end.hasPreviousPage], [false, null, true]);
    const earlier = await read({ text: 'cake', last: 2, before: end.startCursor });
    assert.deepEqual(earlier.names, ['Cake 4', 'Cake 3']);
    const again = await read({ text: 'cake', first: 2, after: earlier.endCursor });
    assert.deepEqual(again.names, end.names);
  });
});

test('merchants are found by a part of their names, with ё or е, composed or not, in any case', async () => {
  await make('Чай «Ёлка» и йогурт');
  for (const name of ['ёлка', ' елка ', 'ЕЛКА» И ', 'Й'.normalize('NFD')])
    assert.deepEqual((await read({ text: name })).names, ['Чай «Ёлка» и йогурт'], name);
});

test('two directions at once, sizes out of range and foreign cursors are a bad request', async () => {
  const [one, two] = [await make('Juice'), await make('Juice')];
  const keys = `query ($m: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    auditLog(merchantId: $m, first: $first, after: $after, last: $last, before: $before) {
      nodes { action } pageInfo { startCursor endCursor } } }`;
  const envelopeOf = async ({ merchantId }: { merchantId: string }, variables: object) => {
    const call = { m: merchantId, ...variables };
    const { errors } = await cabinet.run(keys, call, cabinetUser(merchantId));
    return errors?.map(({ message, extensions }) => ({ message, code: extensions['code'] }));
  };
  const { auditLog } = await cabinet.ask(keys, { m: one.merchantId, first: 2 });
  const last = await cabinet.ask(keys, { m: one.merchantId, last: 2 });
  const cursor = auditLog.pageInfo.endCursor;
  const { startCursor } = last.auditLog.pageInfo;
  assert.ok(cursor && startCursor);
  assert.equal(await envelopeOf(one, { first: 2, after: startCursor }), undefined);
  assert.equal(await envelopeOf(one, { last: 2, before: cursor }), undefined);
  const foreign = (came: string) => ({
    code: 'bad_request',
    message: `cursor: expected the next_cursor of a page of this same query, got ${came}`,
  });
  const long = `a string of ${cursor.length} characters`;
  for (const [before, came] of [
    [cursor, long],
    [startCursor, long],
    ['x', '"x"'],
    ['', '""'],
  ] as const)
    assert.deepEqual(await envelopeOf(two, { last: 2, before }), [foreign(came)]);
  assert.deepEqual(await envelopeOf(two, { first: 2, after: startCursor }), [foreign(long)]);
  const mixed = {
    code: 'bad_request',
    message: 'page: expected first and after, or last and before',
  };
  for (const wrong of [
    { first: 2, last: 2 },
    { first: 2, before: cursor },
    { before: cursor },
    { last: 2, after: cursor },
    { first: 2, after: cursor, last: 2, before: cursor },
  ])
    assert.deepEqual(await envelopeOf(one, wrong), [mixed], JSON.stringify(wrong));
  for (const size of [0, -1, 201]) {
    const message = `limit: expected an integer from 1 to 200, got ${size}`;
    for (const wrong of [{ last: size }, { first: size }])
      assert.deepEqual(await envelopeOf(one, wrong), [{ code: 'bad_request', message }]);
  }
});
