/** The console has words for all that the audit log may say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionNames } from '../../console/src/words/audit-actions.ts';
import { auditActions } from '../../subgraphs/rules/audit-action.ts';

for (const [place, language] of ['en', 'ru'].entries())
  test(`each action of the audit log has words of its own in ${language}`, () => {
    assert.deepEqual(Object.keys(actionNames).toSorted(), auditActions.toSorted());
    const words = new Set(Object.values(actionNames).map((name) => name[place]));
    assert.equal(words.size, auditActions.length);
  });
