/** The subjects of commits from a known one on, where the history is there to be read. */
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { subject_max_chars, subjectFaults } from './commits.ts';
import { root } from './tree.ts';

/** Commits after this one keep to the form; those before it had none. */
const base = 'f1e1bc089ca59c9bedba041bce5a9d4789d68411';

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** The subjects after the base; null in a copy without git, and where the history is cut off. */
const subjectsSince = (): readonly string[] | null => {
  try {
    git('merge-base', '--is-ancestor', base, 'HEAD');
    const log = git('log', '--no-merges', '--format=%s', `${base}..HEAD`);
    return log.split('\n').filter((subject) => subject !== '');
  } catch {
    return null;
  }
};

test(`every commit has the subject "area: imperative summary" in ${subject_max_chars} characters`, (t) => {
  const subjects = subjectsSince();
  if (subjects === null) return t.diagnostic('the history is not here');
  t.diagnostic(`${subjects.length} subjects`);
  assert.deepEqual(
    subjects.flatMap((subject) => subjectFaults(subject).map((fault) => `${subject}: ${fault}`)),
    [],
  );
});

describe('a subject', () => {
  for (const subject of [
    'kernel: give its rooms an order without backward imports',
    'gateway, checkout: refuse a field that comes twice in a body',
    'test/tidy: pass over what is generated',
    'docs: address questions of newcomers',
  ])
    test(`may be "${subject}"`, () => assert.deepEqual(subjectFaults(subject), []));
  for (const subject of [
    'give the rooms an order',
    'Kernel: give the rooms an order',
    'kernel: Give the rooms an order',
    'kernel: gave.',
    'kernel: added an order of rooms',
    'kernel: adding an order of rooms',
    'kernel: adds an order of rooms',
    'kernel:give the rooms an order',
    `kernel: give ${'the rooms '.repeat(7)}an order`,
    'kernel: ',
  ])
    test(`may not be "${subject}"`, () => assert.notDeepEqual(subjectFaults(subject), []));
});
