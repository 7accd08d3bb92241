import { after, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openAddressOf } from '../../subgraphs/platform/access/caller-address.ts';
import { limitBy, openBucketsInMemory } from '../../gateway/callers/admit-caller.ts';
import { openSupergraph } from '../../gateway/supergraph.ts';
import { readContract, type Schema } from '../../rest-facade/read-contract.ts';
import { registerRestFacade } from '../../rest-facade/server.ts';
import { noBankCallbacks } from '../support/no-bank-callbacks.ts';
import { routes } from '../../rest-facade/routes.ts';
import { openHttp } from '../../subgraphs/platform/http/http-server.ts';
import { scopes, type KeyPrincipal } from '../../subgraphs/platform/access/principal.ts';
import { openLog } from '../../subgraphs/platform/tracing/telemetry.ts';
import { authenticatorParts, unprotected } from '../gateway/small-graph.ts';
import { openCheckRequest } from '../../gateway/callers/caller.ts';
import { generatedExecutors, merchants, type Fixture } from '../gateway/generated-subgraphs.ts';

const log = openLog({ logLevel: 'silent' }, 'test');
const fixture: Fixture = { seed: 1, faults: 0 };
const supergraphSdl = readFileSync(
  join(import.meta.dirname, '../../schema/supergraph.graphql'),
  'utf8',
);
const supergraph = await openSupergraph({
  supergraphSdl,
  executors: generatedExecutors(fixture),
  log,
});
const principal: KeyPrincipal = {
  kind: 'key',
  keyId: '00000000-0000-4000-8000-00000000000a',
  merchantId: merchants[0] ?? '',
  shopId: 'a',
  mode: 'test',
  scopes,
};
const app = openHttp({ config: { publicUrl: null }, log, ready: async () => true, overload: null });
const { scopes: granted, ...rest } = principal;
const holder = {
  ...rest,
  scopes: [...granted],
  liveEnabled: false,
  rateLimit: { perSecond: 10_000, burst: 10_000 },
  ...unprotected,
};
const authenticator = {
  ofHeader: async () => ({ principal, holder }),
  isKnown: () => true,
  checkRequest: openCheckRequest(authenticatorParts.vaultKey),
};
const limiter = limitBy(openBucketsInMemory(), openAddressOf([]));
await registerRestFacade(app, {
  supergraph,
  authenticator,
  limiter,
  openStream: (_request, reply) => reply.send(''),
  publicUrl: 'https://api.example',
  bankCallbacks: noBankCallbacks,
  log,
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });
after(() => app.close());

/** In made-up data each of these may be null by itself; the service gives all three or none. */
const together = ['fee_rate_bps', 'net'];

/** Made-up data has neither forms nor ranges. */
const loose = ['format', 'pattern', 'minimum', 'maximum', 'maxItems', 'enum'];

/** The same schema, open no more: a field that the contract does not name is a mistake here. */
const strict = (schema: Schema): Schema => {
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !loose.includes(key)));
  const { properties, items } = schema;
  return {
    ...kept,
    ...(items ? { items: strict(items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(strictField)),
          additionalProperties: false,
        }
      : {}),
  };
};
const strictField = ([name, schema]: [string, Schema]): [string, Schema] => [
  name,
  together.includes(name) ? { type: ['integer', 'null'] } : strict(schema),
];
const ajv = new Ajv2020({ strict: false, allErrors: true });
const contract = readContract();

/** Bodies that the contract takes. */
const bodies: Readonly<Record<string, object>> = {
  CreatePayment: { amount: 1 },
  CreatePayout: { amount: 1, phone: '+79161234567', bank_id: '100000000111' },
  CreatePayoutBatch: { method: 'payouts_sbp', items: [{ amount: 1 }] },
  CreateSubscription: { amount: 1, customer_ref: 'c' },
  CreateToken: { customer_ref: 'c' },
  CreateCustomerSession: { customer_ref: 'c' },
  ChargeToken: { amount: 1 },
  CreateLink: { amount: 1 },
  CloseReceipt: {
    customer: { email: 'a@b.ru' },
    items: [{ description: 'Tea', quantity: '1', price: 1, vat_code: 1 }],
  },
};
const id = '8c5e0c9a-2f5d-4f67-9a51-3a9b1c7f6e11';
const rounds = 12;

describe('what a route answers is what the contract describes, with no field more and none less', () => {
  for (const route of routes.filter(({ kind }) => kind !== 'stream')) {
    test(`${route.method} ${route.path}`, async () => {
      const responses = contract.operations.get(route.operation)?.responses ?? {};
      const body = bodies[route.operation];
      const seen = new Map<number, number>();
      for (fixture.seed = 1; fixture.seed <= rounds; fixture.seed += 1) {
        const response = await fetch(
          `${url}${route.path.replace('{id}', `${route.idPrefix ?? ''}${id}`)}`,
          {
            method: route.method,
            headers: {
              authorization: 'Bearer k',
              ...(body ? { 'content-type': 'application/json' } : {}),
            },
            ...(body ? { body: JSON.stringify(body) } : {}),
          },
        );
        const answer: unknown = await response.json();
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        // A made-up mutation refuses with made-up codes, each with a status of its own.
        if (response.status >= 400) continue;
        const schema = responses[response.status];
        assert(schema, `${response.status} is not in the contract`);
        assert.deepEqual(
          ajv.validate(strict(schema), answer) ? [] : ajv.errors,
          [],
          JSON.stringify(answer),
        );
      }
      const good = [...seen].reduce((sum, [status, times]) => sum + (status < 300 ? times : 0), 0);
      assert(good > 0, `no answer of ${rounds} was good: ${[...seen.keys()].join(', ')}`);
    });
  }
});
