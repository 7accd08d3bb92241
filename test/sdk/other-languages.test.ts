/** The copyable files for Python and PHP create and read a payment of the service. */
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeMerchant } from '../support/merchant.ts';
import { openPlainService } from '../support/plain-service.ts';
import { inherited } from '../support/service.ts';

const service = await openPlainService();
after(() => service.stop());
const run = promisify(execFile);

const languages = [
  { name: 'Python', command: process.env['PYTHON'], file: 'check.py', folder: 'python' },
  { name: 'PHP', command: process.env['PHP'], file: 'check.php', folder: 'php' },
];

for (const { name, command, file, folder } of languages)
  test(
    `a shop in ${name} creates, repeats and reads a payment, and is told what is wrong`,
    { skip: command === undefined && `${name} is not installed` },
    async () => {
      const { key, call } = await makeMerchant(service);
      const program = join(import.meta.dirname, 'other-languages', file);
      const copied = join(import.meta.dirname, '../../sdk', folder);
      const env = { ...inherited, PSP_API_KEY: key, PSP_URL: service.rest };
      const { stdout } = await run(command ?? '', [program, copied], { env });
      const { created, again, read, refused } = JSON.parse(stdout);
      const { body } = await call('GET', `/payments?order_id=${encodeURIComponent('заказ 1')}`);
      assert.deepEqual(
        body.items.map(({ id }: { readonly id: string }) => id),
        [created.payment.id],
      );
      assert.deepEqual([again.payment.id, again.idempotent], [created.payment.id, true]);
      assert.deepEqual([read.id, read.amount], [created.payment.id, 12_300]);
      assert.deepEqual(refused, [
        [400, 'bad_request', ['amount', 'ttl_minutes']],
        [404, 'not_found', []],
      ]);
    },
  );
