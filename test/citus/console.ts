/**
 * What the console sends, on tables that `distribute.sql` has spread over two workers: each of its
 * operations is answered, of all merchants and of one, or refused in words that are meant for a
 * person.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { GraphQLFormattedError } from 'graphql';
import { payByCard } from '../support/buyer.ts';
import {
  consoleOperations,
  someVariables,
  type ConsoleOperation,
} from '../support/console-operations.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import { migrateTemplate } from '../support/migrated.ts';
import { operatorToken, startService, type Service } from '../support/service.ts';
import { distribute, startCitus, type Servers } from './servers.ts';
import { eventually } from '../support/eventually.ts';

let servers: Servers;
let service: Service;
let merchant: Merchant;
let paymentId: string;
before(async () => {
  servers = await startCitus(process.env['CITUS_BIN'] ?? '');
  await migrateTemplate(servers.url);
  await distribute(servers.url);
  service = await startService('one', {
    DATABASE_URL: servers.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_PRIVATE_TARGETS: 'allow',
  });
  merchant = await makeMerchant(service);
  // An address without a listener.
  await merchant.endpoint('http://127.0.0.1:9/hook');
  const { body } = await merchant.call('POST', '/payments', { amount: 500_000, method: 'cards' });
  paymentId = body.payment.id;
  await payByCard(body.payment_url);
  const isPaid = async () =>
    (await merchant.call('GET', `/payments/${paymentId}`)).body.status === 'succeeded';
  await eventually(isPaid, 'the payment');
  await merchant.call('POST', `/payments/${paymentId}/refund`, { amount: 100 });
});
after(async () => {
  await service?.stop();
  await servers?.stop();
});

/** What is wrong with the answer to an operation; null when nothing is. */
const mistakeOf = async (
  { name, text }: ConsoleOperation,
  variables: object,
): Promise<string | null> => {
  const answer = await fetch(`${service.graph}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
    body: JSON.stringify({ query: text, operationName: name, variables }),
  });
  const { errors = [] } = (await answer.json()) as {
    readonly errors?: readonly GraphQLFormattedError[];
  };
  const wrong = errors.filter(
    ({ extensions }) => !['bad_request', 'not_found'].includes(String(extensions?.['code'])),
  );
  return wrong.length === 0
    ? null
    : `${name} ${JSON.stringify(variables)}: ${JSON.stringify(wrong)}`;
};

for (const kind of ['query', 'mutation'] as const) {
  test(`each ${kind} of the console is answered`, async () => {
    const operations = consoleOperations().filter((one) => one.kind === kind);
    assert.ok(operations.length > 30, `${operations.length} operations`);
    const mistakes: string[] = [];
    for (const operation of operations) {
      for (const id of [merchant.id, paymentId]) {
        for (const which of ['required', 'all'] as const) {
          const given = someVariables(operation, id, which);
          const named = 'merchantId' in given ? { ...given, merchantId: merchant.id } : given;
          const mistake = await mistakeOf(operation, named);
          if (mistake !== null) mistakes.push(mistake);
        }
      }
    }
    const printed = service.processes.map((one) => one.output()).join('\n');
    assert.deepEqual(mistakes, [], printed.slice(-4_000));
  });
}
