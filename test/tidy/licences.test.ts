import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPackages } from './licences.ts';
import { readText } from './tree.ts';

test('SECURITY.md lists the packages that are installed, with their licences (node test/tidy/licences.ts writes them)', () => {
  const text = readText('SECURITY.md');
  assert.equal(withPackages(text), text);
  assert.match(text, /\| @apollo\/gateway \| [\d.]+ \| Elastic-2\.0 \|/);
  assert.notEqual(withPackages(text.replace('| pg |', '| pq |')), text.replace('| pg |', '| pq |'));
});
