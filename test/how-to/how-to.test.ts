/**
 * schema/HOW-TO-CHANGE.md, carried out: on a copy of the tree each section's steps lead to a tree
 * that passes the checks, and no step can be left out.
 */
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readText, root } from '../tidy/tree.ts';
import { addBank } from './add-bank.ts';
import { addColumn } from './add-column.ts';
import { addEventKind } from './add-event-kind.ts';
import { addRoute } from './add-route.ts';
import { copyTree, type TreeCopy } from './tree-copy.ts';
import { generate, types, type Check, type Step, type Walk } from './walk.ts';

const walks: readonly Walk[] = [addRoute, addBank, addEventKind, addColumn];
const steps = walks.flatMap((walk) => walk.steps);
const page = readText('schema/HOW-TO-CHANGE.md');

/** What the numbered items of a section name first. */
const namedIn = (section: string): readonly string[] => {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, named = '']) => named);
};

const missedBy = (step: Step): Check => step.missedBy;

/** The text of a file after all steps but one. */
const textOf = (path: string, omitted: Step | null): string =>
  steps
    .filter((step) => step.path === path && step !== omitted)
    .reduce((text, { edit }) => edit(text), existsSync(join(root, path)) ? readText(path) : '');

describe('the page on changes', () => {
  let copy: TreeCopy;
  before(() => {
    copy = copyTree();
  });
  after(() => copy.remove());

  const passes = async (check: Check): Promise<void> => {
    const { passed, output } = await copy.run(check);
    assert.ok(passed, `${check.join(' ')}\n${output}`);
  };

  for (const { section, steps: carriedOut } of walks)
    test(`names the files of "${section}", in their order`, () =>
      assert.deepEqual(
        namedIn(section),
        carriedOut.map(({ named }) => named),
      ));

  let isWhole = false;
  /** Whether the generated files are those of a step that was left out. */
  let stale = false;
  test('leads to a tree that passes the checks', async (t) => {
    for (const { path } of steps) copy.write(path, textOf(path, null));
    await passes(generate);
    const checks = [types, ...walks.flatMap((walk) => walk.tests), ...steps.map(missedBy)];
    const different = new Map(checks.map((check) => [check.join(' '), check]));
    const failed: string[] = [];
    for (const [name, check] of different) {
      const { passed, output } = await copy.run(check);
      if (!passed) failed.push(`${name}\n${output}`);
    }
    assert.deepEqual(failed, []);
    t.diagnostic(`${steps.length} steps, ${different.size} checks`);
    isWhole = true;
  });

  for (const { section, steps: carriedOut } of walks)
    for (const step of carriedOut)
      test(`${section}: without ${step.path} a check fails`, async () => {
        assert.ok(isWhole, 'nothing can be left out of a tree that fails');
        copy.write(step.path, textOf(step.path, step));
        if (step.generated || stale) await passes(generate);
        stale = step.generated ?? false;
        const { passed, output } = await copy.run(step.missedBy);
        copy.write(step.path, textOf(step.path, null));
        assert.ok(!passed, `${step.missedBy.join(' ')}\n${output}`);
      });
});
