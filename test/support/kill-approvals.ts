/** Kills a process between the statements of its approvals. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Database } from '../../subgraphs/platform/database/orm.ts';
import { eventually } from './eventually.ts';

/** Drafts of a merchant that are approved by one call; of refunds, one. */
export interface ApprovedTogether {
  readonly merchantId: string;
  readonly ids: readonly string[];
}

/**
 * Makes approvals in a process that is killed when each has come as far as it may: the n-th, from 0,
 * has sent n statements. Gives what it printed of each, in their order.
 */
export const killBetween = async (
  { url }: Pick<Database, 'url'>,
  kind: 'payout' | 'refund',
  approved: readonly ApprovedTogether[],
): Promise<readonly string[]> => {
  const script = join(import.meta.dirname, 'doomed-approval.ts');
  const child = spawn(process.execPath, [script, kind, url, JSON.stringify(approved)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  const lines = (): readonly string[] => output.trim().split('\n');
  await eventually(
    () => {
      assert.equal(child.exitCode, null, 'it ended by itself');
      return lines().length === approved.length;
    },
    () => `the moments of the approvals; it printed ${output}`,
  ).finally(() => child.kill('SIGKILL'));
  await ended;
  return lines().toSorted((one, other) => Number(one.split(' ')[1]) - Number(other.split(' ')[1]));
};
