/** A body that stalls ends with its signal or time limit, though memory was collected meanwhile. */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { isLong } from '../support/size.ts';
import { findNode20, installPackage, runNode, writeProgram } from './packed.ts';

const node20 = isLong ? await findNode20() : null;

describe('a body that stalls behind its head', () => {
  let folder = '';
  let program = '';
  before(async () => {
    ({ folder } = await installPackage());
    program = writeProgram(folder, 'stalled-bodies');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const nodes = [
    ...(node20 === null ? [] : [['Node 20', node20] as const]),
    ['this Node', process.execPath],
  ] as const;
  for (const [name, node] of nodes)
    test(`ends when its reader has enough, by ${name}`, async () => {
      const printed = await runNode(node, ['--expose-gc', program], { cwd: folder });
      assert.deepEqual(printed.trim().split('\n'), [
        'stream: ended, 0 connections',
        'limit: ConnectionError, 0 connections',
        'json: AbortError, 0 connections',
        'csv: AbortError, 0 connections',
        'left: ended, 0 connections',
      ]);
    });
});
