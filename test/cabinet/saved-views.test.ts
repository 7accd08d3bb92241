/** Views of lists that people keep: their own alone, so many and no more. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cabinetUser, makeFixture, openCabinet, operator, type Cabinet } from './cabinet.ts';
import type { OperatorPrincipal } from '../../subgraphs/platform/access/principal.ts';

let cabinet: Cabinet;
before(async () => void (cabinet = await openCabinet()));
after(() => cabinet.close());

const save = async (
  person: OperatorPrincipal,
  { section = 'payments', name = 'A view', search = 'status=failed' } = {},
): Promise<any> =>
  (
    await cabinet.ask(
      `mutation ($section: String!, $name: String!, $search: String!) {
        savedViewSave(section: $section, name: $name, search: $search) {
          ... on SavedView { id search } ... on Refused { code message } } }`,
      { section, name, search },
      person,
    )
  ).savedViewSave;

const viewsOf = async (person: OperatorPrincipal, section?: string): Promise<any[]> =>
  (
    await cabinet.ask(
      'query ($section: String) { savedViews(section: $section) { id section name search } }',
      { section },
      person,
    )
  ).savedViews;

const remove = async (person: OperatorPrincipal, id: string): Promise<any> =>
  (
    await cabinet.ask(
      'mutation ($id: ID!) { savedViewDelete(id: $id) { __typename ... on Refused { code } } }',
      { id },
      person,
    )
  ).savedViewDelete;

test('a person has its own views, of a name one in each section', async () => {
  const { merchantId } = await makeFixture(cabinet, 'http://127.0.0.1:1/');
  const user = cabinetUser(merchantId, 'viewer');
  const { id } = await save(user);
  assert.equal((await save(user, { search: 'status=succeeded' })).id, id);
  await save(user, { section: 'refunds' });
  assert.deepEqual(
    (await viewsOf(user)).map(({ section, search }) => [section, search]),
    [
      ['payments', 'status=succeeded'],
      ['refunds', 'status=failed'],
    ],
  );
  assert.equal((await viewsOf(user, 'refunds')).length, 1);
  // Another person of the merchant, one of the platform, and one of the same name elsewhere.
  const elsewhere = await makeFixture(cabinet, 'http://127.0.0.1:1/');
  for (const other of [
    { ...user, subject: 'user-2' },
    operator('viewer'),
    cabinetUser(elsewhere.merchantId, 'viewer'),
  ]) {
    assert.deepEqual(await viewsOf(other), []);
    assert.equal((await remove(other, id)).code, 'not_found');
  }
  assert.equal((await remove(user, id)).__typename, 'SavedViewDeleted');
  assert.equal((await remove(user, id)).code, 'not_found');
  assert.equal((await viewsOf(user)).length, 1);
});

test('a person keeps fifty, however many come at once', async () => {
  const person: OperatorPrincipal = { ...operator('viewer'), subject: 'a collector' };
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => save(person, { name: `View ${index}` })),
  );
  assert.equal(answers.filter(({ code }) => code === 'bad_request').length, 10);
  assert.equal((await viewsOf(person)).length, 50);
  assert.equal((await save({ ...person, subject: 'another' })).code, undefined);
});

test('a wrong section, name or search is refused in words', async () => {
  for (const [wrong, message] of [
    [{ section: 'Payments!' }, /^section/],
    [{ name: '  ' }, /^name/],
    [{ name: 'x'.repeat(81) }, /^name/],
    [{ search: 'x'.repeat(2_001) }, /^search/],
  ] as const)
    assert.match((await save(operator('viewer'), wrong)).message, message);
});
