/**
 * A process that creates payments 64 at a time, each under a key of its own, and reports them,
 * until it is killed: `node doomed-creator.ts <database> <merchant> <shop> <first number>`.
 */
import { randomUUID } from 'node:crypto';
import { openDatabase } from '../../subgraphs/platform/database/orm.ts';
import { noPolicies } from '../support/no-policies.ts';
import { recordPayment } from '../../subgraphs/payments/create-payment.ts';
import { entities } from '../../subgraphs/entities.ts';
import { granted } from '../support/granted.ts';

const [, , url = '', merchantId = '', shopId = '', first = ''] = process.argv;
const database = await openDatabase({ url, entities, pool: 8 });
const keyId = randomUUID();
const key = { kind: 'key', keyId, merchantId, shopId, mode: 'test', scopes: [] } as const;

let next = Number(first);
const create = async (): Promise<never> => {
  for (;;) {
    const number = next++;
    const request = { input: { amount: 100n }, idempotency: { key: `key ${number}` } };
    const { payment } = granted(
      await recordPayment(database, noPolicies, key, request, Temporal.Now.instant()),
    );
    process.send?.({ number, id: payment.id });
  }
};
await Promise.all(Array.from({ length: 64 }, create));
