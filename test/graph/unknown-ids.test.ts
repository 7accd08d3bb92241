/**
 * Ids of nothing: a merchant that there is not is `not_found` on every field that takes one, and no
 * id breaks anything.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getNamedType, isInputObjectType, type GraphQLNamedType } from 'graphql';
import { access } from '../../subgraphs/platform/access/access.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';
import { size } from '../support/size.ts';
import { askInEveryFill, type Depth, type EveryField, type ValueOf } from './every-field.ts';
import { plant, type Planted } from './planted-rows.ts';
import { openGraphHarness } from './harness.ts';

let harness: Awaited<ReturnType<typeof openGraphHarness>>;
let merchant: Planted;

before(async () => {
  harness = await openGraphHarness();
  merchant = await plant(
    harness.database.pool,
    'here',
    { merchant: randomUUID(), shop: randomUUID() },
    ['merchant', 'shop', 'api_key', 'payment'],
  );
});
after(() => harness?.close());

const operator: Principal = { kind: 'operator', subject: 'o', role: 'admin', merchantId: null };
/** What a token of the issuer says is what it says: there need not be such a merchant. */
const cabinetUser: Principal = { kind: 'operator', subject: 'c', role: 'admin', merchantId: 'x' };

const isId = (asked: string): boolean => asked === 'id' || asked.endsWith('Id');

/** Fills ids: those of merchants with one, all others with another. */
const fillWith =
  (merchantId: string, id: string): ValueOf =>
  (argument) =>
    argument === 'merchantId'
      ? merchantId
      : isId(argument)
        ? id
        : argument === 'first'
          ? 5
          : undefined;

const depth = size<Depth>('first place', 'every place');

const everything = (valueOf: ValueOf): readonly EveryField[] =>
  (['query', 'mutation'] as const).flatMap((operation) =>
    askInEveryFill(harness.supergraph.apiSchema, operation, { depth, valueOf }),
  );

const namesMerchant = (
  args: readonly { readonly name: string; readonly type: Parameters<typeof getNamedType>[0] }[],
): boolean =>
  args.some(({ name, type }) => {
    const named: GraphQLNamedType | undefined = getNamedType(type);
    return (
      name === 'merchantId' ||
      (isInputObjectType(named) && namesMerchant(Object.values(named.getFields())))
    );
  });

/** Root fields that were given a merchant. */
const givesMerchant = ({ root, variables }: EveryField, merchantId: string): boolean => {
  const [type = '', field = ''] = root.split('.');
  const owner = harness.supergraph.apiSchema.getType(type);
  const args =
    owner && 'getFields' in owner && !isInputObjectType(owner)
      ? owner.getFields()[field]?.args
      : undefined;
  return (
    args !== undefined &&
    'length' in args &&
    namesMerchant(args) &&
    JSON.stringify(variables).includes(`"${merchantId}"`)
  );
};

/**
 * What the field answered: the code of its error or of its refusal; null when it has answered
 * otherwise.
 */
const codeOf = async (
  { document, variables }: EveryField,
  principal: Principal,
): Promise<unknown> => {
  const { data, errors } = await harness.supergraph.execute(
    { document, variables },
    { principal, requestId: 'r', isInLane: true },
  );
  const [answer] = Object.values(data ?? {});
  const refusal =
    typeof answer === 'object' && answer !== null
      ? Object.entries(answer).find(([name]) => name === 'Refused_code')?.[1]
      : null;
  return errors?.[0]?.extensions['code'] ?? refusal ?? null;
};

/**
 * What is for the platform's people looks for the merchant itself, after its other arguments; its
 * lists are only filtered by one.
 */
const looksItself = (root: string): boolean => access[root]?.platform === true;

const notInternal = (code: unknown): boolean =>
  !(typeof code === 'string' && /internal/i.test(code));

describe('a merchant that there is not', () => {
  for (const [what, id] of [
    ['with an id that is none', 'x'],
    ['with an unknown id', randomUUID()],
  ] as const) {
    test(`${what} is not found by any field that takes a merchant`, async (t) => {
      const wrong: string[] = [];
      let asked = 0;
      for (const query of everything(fillWith(id, merchant.id('payment')))) {
        const code = await codeOf(query, operator);
        const given = givesMerchant(query, id) && (id === 'x' || !looksItself(query.root));
        if (given) asked += 1;
        // A field for keys or for the service alone says so first.
        if (given && code !== 'not_found' && code !== 'forbidden')
          wrong.push(`${query.root}: ${String(code)}`);
        if (!notInternal(code)) wrong.push(`${query.root}: ${String(code)}`);
      }
      t.diagnostic(`${asked} documents`);
      assert(asked > 100, `${asked} documents`);
      assert.deepEqual([...new Set(wrong)], []);
    });
  }
});

test('ids of other things that are none break nothing, nor does a person whose own merchant is none', async (t) => {
  const wrong: string[] = [];
  const queries = ['x', ''].flatMap((id) => everything(fillWith(merchant.id('merchant'), id)));
  for (const query of queries) {
    for (const principal of [operator, cabinetUser]) {
      const code = await codeOf(query, principal);
      if (!notInternal(code)) wrong.push(`${query.root}: ${String(code)}`);
    }
  }
  t.diagnostic(`${queries.length} documents`);
  assert.deepEqual([...new Set(wrong)], []);
});
