import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { getOperationAST, Kind, parse, separateOperations } from 'graphql';
import { readContract, type Schema } from '../../rest-facade/read-contract.ts';
import { refusalHttp } from '../../rest-facade/refusal-http.ts';
import { routes } from '../../rest-facade/routes.ts';
import { camelCase } from '../../rest-facade/validate-body.ts';
import { readOperations, readSubgraphSdl, subgraphNames } from '../../schema/sources.ts';
import { liveKinds, webhookEvents } from '../../subgraphs/rules/event.ts';
import { refusalCodes } from '../../subgraphs/rules/refusal.ts';
import { access } from '../../subgraphs/platform/access/access.ts';
import { apiVersion } from '../../schema/limits.ts';
import { documented } from './documented.ts';

const contract = readContract();
const named = separateOperations(readOperations());
const sdl = subgraphNames.flatMap((name) => readSubgraphSdl(name).definitions);

/**
 * Operations that no merchant's route stands for: the hosted page, and the ledger's route when it
 * answers with a file.
 */
const ownOperations = [
  'GetCheckout',
  'ChooseCheckoutMethod',
  'PayCheckout',
  'PlanCheckoutOutcome',
  'ConfirmCheckoutSimulator',
  'ExportLedger',
  'ReadTestClock',
];

/** `Mutation.paymentCreate` of a named operation. */
const rootFieldOf = (name: string): string => {
  const operation = getOperationAST(named[name] ?? parse('{ __typename }'));
  const [field] = operation?.selectionSet.selections ?? [];
  assert(operation && field?.kind === Kind.FIELD, `${name} has no root field`);
  return `${{ query: 'Query', mutation: 'Mutation', subscription: 'Subscription' }[operation.operation]}.${field.name.value}`;
};

const inputFieldsOf = (typeName: string): string[] => {
  const input = sdl.find(
    (definition) =>
      definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION && definition.name.value === typeName,
  );
  assert(input?.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION);
  return (input.fields ?? []).map((field) => field.name.value).toSorted();
};

const fieldsOf = (schema: Schema | undefined): string[] => Object.keys(schema?.properties ?? {});

describe('one documented route is one OpenAPI operation, one row of the table and one named GraphQL operation', () => {
  test('the documents list 37 routes', () => assert.equal(Object.keys(documented).length, 37));

  test('the OpenAPI operations are the documented routes', () => {
    const described = [...contract.operations.values()].map(({ method, path, operationId }) => [
      `${method} ${path}`,
      operationId,
    ]);
    assert.deepEqual(Object.fromEntries(described), documented);
    assert.equal(described.length, contract.operations.size);
  });

  test('the rows of the facade are the documented routes', () => {
    assert.deepEqual(
      Object.fromEntries(
        routes.map(({ method, path, operation }) => [`${method} ${path}`, operation]),
      ),
      documented,
    );
    assert.equal(routes.length, Object.keys(documented).length);
  });

  test('every named operation stands behind one route, or is the service’s own', () => {
    assert.deepEqual(
      Object.keys(named).toSorted(),
      [...Object.values(documented), ...ownOperations].toSorted(),
    );
  });
});

describe('a row and the operations behind it agree', () => {
  for (const route of routes) {
    const operation = contract.operations.get(route.operation);
    test(`${route.method} ${route.path} asks for the scopes of its root field`, () => {
      assert.equal(route.field, rootFieldOf(route.operation));
      const key = access[route.field]?.key;
      const { all, any } = {
        all: key && 'allOf' in key ? key.allOf : [],
        any: key && 'anyOf' in key ? key.anyOf : [],
      };
      const needsOne = any.length > 0 ? { any } : undefined;
      const wanted = all.length > 0 ? { all } : needsOne;
      const raw = contract.document['paths'] as Record<
        string,
        Record<string, { 'x-scopes'?: unknown }>
      >;
      assert.deepEqual(raw[route.path]?.[route.method.toLowerCase()]?.['x-scopes'], wanted);
    });

    test(`${route.method} ${route.path} says in the contract whether it accepts an idempotency key`, () => {
      const accepts = operation?.parameters.some(({ name }) => name === 'Idempotency-Key');
      assert.equal(accepts, route.idempotent);
      const answers = Object.keys(operation?.responses ?? {});
      // A capture makes nothing: done or replayed, it is answered 200.
      const wanted = route.operation === 'CapturePayment' ? ['200'] : ['200', '201'];
      assert.equal(
        route.idempotent && wanted.every((status) => answers.includes(status)),
        route.idempotent,
      );
      assert.equal(
        answers.includes('200') && answers.includes('201'),
        route.idempotent && wanted.length > 1,
      );
    });
  }

  test('the idempotent routes are those of the contract', () => {
    const accepting = routes
      .filter(({ idempotent }) => idempotent)
      .map(({ operation }) => operation);
    const wanted = [
      'CreatePayment',
      'CapturePayment',
      'CreateRefund',
      'CloseReceipt',
      'CreatePayout',
      'CreatePayoutBatch',
      'CreateSubscription',
      'CreateToken',
      'ChargeToken',
      'CreateLink',
    ];
    assert.deepEqual(accepting, wanted);
  });
});

describe('bodies reach the graph whole', () => {
  const inputs = {
    CreatePayment: 'PaymentCreateInput',
    CreateSubscription: 'SubscriptionCreateInput',
    CreateToken: 'TokenCreateInput',
    CloseReceipt: 'ReceiptInput',
  };
  for (const [operationId, input] of Object.entries(inputs)) {
    test(`${operationId} takes the fields of ${input}`, () => {
      const fields = fieldsOf(contract.operations.get(operationId)?.body?.schema).map(camelCase);
      assert.deepEqual(fields.toSorted(), inputFieldsOf(input));
    });
  }

  test('the three variants of a payout together take the fields of PayoutCreateInput', () => {
    const variants = contract.operations.get('CreatePayout')?.body?.schema.anyOf ?? [];
    assert.equal(variants.length, 3);
    assert.deepEqual(
      [...new Set(variants.flatMap(fieldsOf).map(camelCase))].toSorted(),
      inputFieldsOf('PayoutCreateInput'),
    );
  });

  test('an item of a batch has the fields of the payout of its method', () => {
    const payouts = contract.operations.get('CreatePayout')?.body?.schema.anyOf ?? [];
    const batches = contract.operations.get('CreatePayoutBatch')?.body?.schema.oneOf ?? [];
    assert.equal(batches.length, payouts.length);
    batches.forEach((batch, index) => {
      const item = fieldsOf(batch.properties?.['items']?.items).toSorted();
      assert.deepEqual(item, fieldsOf(payouts[index]).toSorted());
      assert.deepEqual(
        batch.properties?.['method']?.enum,
        payouts[index]?.properties?.['method']?.enum,
      );
    });
  });

  test('every body refuses fields that it does not know', () => {
    const bodies = [...contract.operations.values()].flatMap(({ body }) =>
      body ? (body.schema.anyOf ?? body.schema.oneOf ?? [body.schema]) : [],
    );
    assert(bodies.length >= 12);
    for (const body of bodies) assert.equal(body.additionalProperties, false);
  });
});

describe('the contract names what the service knows', () => {
  const enums = sdl.flatMap((definition) =>
    definition.kind === Kind.ENUM_TYPE_DEFINITION ? [definition] : [],
  );
  const schemas =
    (contract.document['components'] as Record<string, Record<string, Schema>>)['schemas'] ?? {};
  const shared = Object.entries(schemas).filter(
    ([name, schema]) => schema.enum && enums.some((type) => type.name.value === name),
  );

  test('lists with a name have the same values in both contracts', () => {
    assert(shared.length >= 10, shared.map(([name]) => name).join(', '));
    for (const [name, schema] of shared) {
      for (const type of enums.filter((candidate) => candidate.name.value === name)) {
        assert.deepEqual(
          type.values?.map((value) => value.name.value),
          schema.enum,
          name,
        );
      }
    }
  });

  const events = (name: string): readonly string[] =>
    (contract.document['components'] as Record<string, Record<string, Schema>>)['schemas']?.[name]
      ?.properties?.['event']?.enum as string[];

  test('the codes of errors are those that the edge can answer, all of them', () => {
    assert.deepEqual(schemas['ErrorCode']?.enum?.toSorted(), Object.keys(refusalHttp).toSorted());
    assert.deepEqual(
      refusalCodes.filter((code) => !schemas['ErrorCode']?.enum?.includes(code)),
      [],
    );
  });

  test('the version is that of the answers', () =>
    assert.equal((contract.document['info'] as { version: string }).version, apiVersion));

  test('the webhooks are the events', () => {
    assert.deepEqual(Object.keys(contract.document['webhooks'] as object), webhookEvents);
    const schemasOf = [
      'PaymentWebhook',
      'RefundWebhook',
      'PayoutWebhook',
      'LinkWebhook',
      'ReceiptWebhook',
      'SubscriptionWebhook',
      'TokenWebhook',
    ];
    assert.deepEqual(schemasOf.flatMap(events), webhookEvents);
    assert.deepEqual(schemas['WebhookEventName']?.enum, webhookEvents);
  });

  test('the kinds of the stream are the five kinds', () => {
    const { mapping } = (
      schemas['LiveEvent'] as { discriminator: { mapping: Record<string, string> } }
    ).discriminator;
    // The last kind is the graph's alone.
    assert.deepEqual(Object.keys(mapping), liveKinds.slice(0, -1));
    for (const [kind, reference] of Object.entries(mapping)) {
      assert.deepEqual(
        schemas[reference.split('/').at(-1) ?? '']?.properties?.['kind']?.enum,
        [kind],
        reference,
      );
    }
  });
});
