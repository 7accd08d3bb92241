/**
 * What the service asks itself is no part of the graph that clients see, and not theirs to ask
 * where it is.
 */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Supergraph } from '@apollo/federation-internals';
import { getOperationAST, Kind, separateOperations } from 'graphql';
import { readInternalOperations, subgraphNames } from '../../schema/sources.ts';
import { access, accessRefusal } from '../../subgraphs/platform/access/access.ts';
import type { Principal } from '../../subgraphs/platform/access/principal.ts';

const sdl = readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8');
const schema = Supergraph.build(sdl).apiSchema().toGraphQLJSSchema();
const rootTypes = [schema.getQueryType(), schema.getMutationType()];

/** Who asks them: processes with the keys of services, and those of the edge. */
const askers: readonly Principal[] = [
  { kind: 'service', name: 'worker' },
  { kind: 'edge', name: 'gateway' },
];

const isPublic = (coordinate: string): boolean =>
  rootTypes.some((type) =>
    Object.keys(type?.getFields() ?? {}).some((field) => `${type?.name}.${field}` === coordinate),
  );

test('a root field for services alone is not in the public schema, and no type of its own is', (t) => {
  const alone = Object.entries(access).flatMap(([field, row]) =>
    (row.service || row.edge) && Object.keys(row).length === 1 ? [field] : [],
  );
  t.diagnostic(alone.join(', '));
  assert(alone.length >= 8);
  assert.deepEqual(alone.filter(isPublic), []);
  for (const type of ['ApiKeyHolder', 'ApiKeyUse', 'RecurringPayment'])
    assert.equal(schema.getType(type), undefined, type);
});

test('the operations behind them ask for nothing else', (t) => {
  const asked = subgraphNames.flatMap((name) =>
    Object.values(separateOperations(readInternalOperations(name))).flatMap((document) => {
      const operation = getOperationAST(document);
      const type = operation?.operation === 'mutation' ? 'Mutation' : 'Query';
      return (operation?.selectionSet.selections ?? []).map((field) =>
        field.kind === Kind.FIELD ? `${type}.${field.name.value}` : '?',
      );
    }),
  );
  t.diagnostic(asked.join(', '));
  assert(asked.length >= 8);
  assert.deepEqual(
    asked.filter(
      (field) => isPublic(field) || askers.every((asker) => accessRefusal(field, asker) !== null),
    ),
    [],
  );
});
