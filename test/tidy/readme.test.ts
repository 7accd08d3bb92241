/** What README.md shows a newcomer, against what the program says at its start. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { firstPayment } from '../../main.ts';
import { readText } from './tree.ts';

test('the first payment of README.md is the command that the start prints', () => {
  const command = firstPayment('http://127.0.0.1:4000', 'sk_test_...').join('\n');
  assert.ok(
    readText('README.md').includes(`\`\`\`sh\n${command}\n\`\`\``),
    `README.md should show:\n${command}`,
  );
});
