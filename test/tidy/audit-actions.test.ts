/** The console has words for all that the audit log may say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en, ru } from '../../console/src/words/audit-actions.ts';
import { auditActions } from '../../subgraphs/rules/audit-action.ts';

for (const [language, words] of Object.entries({ en, ru }))
  test(`each action of the audit log has words of its own in ${language}`, () => {
    assert.deepEqual(Object.keys(words).toSorted(), auditActions.toSorted());
    assert.equal(new Set(Object.values(words)).size, auditActions.length);
  });
