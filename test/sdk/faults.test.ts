/** Lost answers do not move money twice, on the oldest Node and on ours. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { openPaymentClient } from '../../sdk/src/index.ts';
import { openPlainService } from '../support/plain-service.ts';
import { isLong, size } from '../support/size.ts';
import { openCuttingProxy, openMixedFates } from './cutting-proxy.ts';
import { makeFundedMerchant } from './funded.ts';
import { findNode20, installPackage, runNode, writeProgram } from './packed.ts';

const service = await openPlainService();
after(() => service.stop());
const node20 = isLong ? await findNode20() : null;

const countOf = async (list: AsyncIterable<unknown>): Promise<number> => {
  let found = 0;
  for await (const _ of list) found++;
  return found;
};

describe('through a proxy that cuts connections before and after a request was read', () => {
  let folder = '';
  let program = '';
  before(async () => {
    ({ folder } = await installPackage());
    program = writeProgram(folder, 'move-money');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const nodes = [
    ...(node20 === null ? [] : [['Node 20', node20, 100] as const]),
    ['this Node', process.execPath, size(60, 500)],
  ] as const;
  for (const [name, node, count] of nodes)
    test(`${count} payments, refunds and payouts are ${count} of each, by ${name}`, async (t) => {
      const merchant = await makeFundedMerchant(service, size(5, 20));
      const proxy = await openCuttingProxy(service.rest, openMixedFates());
      t.after(proxy.close);
      const args = [program, proxy.url, merchant.key, merchant.paidIds.join(','), String(count)];
      const printed = JSON.parse(await runNode(node, args, { cwd: folder }));
      t.diagnostic(`${JSON.stringify(printed)} ${JSON.stringify(proxy.fates)}`);
      const each = { payments: count, refunds: count, payouts: count };
      assert.deepEqual(printed, { node: printed.node, ...each });
      assert.ok(proxy.fates['cut before'] > count / 2, 'cut too few before');
      assert.ok(proxy.fates['cut after'] > count, 'cut too few after');
      const client = openPaymentClient({ apiKey: merchant.key, baseUrl: service.rest });
      const found = {
        // Without those that the refunds are of.
        payments: (await countOf(client.payments.list({ limit: 200 }))) - merchant.paidIds.length,
        refunds: await countOf(client.refunds.list({ limit: 200 })),
        payouts: await countOf(client.payouts.list({ limit: 200 })),
      };
      assert.deepEqual(found, each);
      const refunds = await client.refunds.list({ limit: 200 }).first(count);
      const states = refunds.map(({ amount, status }) => `${amount} ${status}`);
      assert.deepEqual(new Set(states), new Set(['100 succeeded']));
    });
});
