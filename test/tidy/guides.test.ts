/** Guides keep their form, and name nothing that is gone. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  deadAnchors,
  deadNames,
  deadPaths,
  decisionFaults,
  decisionWords_max,
  decisionsOf,
} from './guides.ts';
import { isGenerated, projectFiles, readText, typescriptFiles } from './tree.ts';

const files = projectFiles();
const architecture = readText('ARCHITECTURE.md');
const glossary_max = 12;

describe('guides', () => {
  test(`each decision has a title, a date, a rejected alternative, and at most ${decisionWords_max} words`, (t) => {
    const decisions = decisionsOf(architecture);
    t.diagnostic(`${decisions.length} decisions`);
    assert.ok(decisions.length > 100, `saw only ${decisions.length} decisions`);
    assert.deepEqual(decisions.flatMap(decisionFaults), []);
  });

  test('no number of a decision is used twice, and every one that is named exists', () => {
    const numbers = decisionsOf(architecture).map((decision) => decision.slice(5, 10));
    assert.equal(new Set(numbers).size, numbers.length);
    const named = files
      .filter((path) => /\.(md|ts|mjs|js|graphql|yaml|yml)$/.test(path))
      .filter((path) => !path.startsWith('test/tidy/guides'))
      .flatMap((path) => readText(path).match(/\bA-\d{3}\b/g) ?? []);
    assert.deepEqual(
      named.filter((number) => !numbers.includes(number)),
      [],
    );
  });

  test(`the glossary has at most ${glossary_max} terms`, () => {
    const [, section = ''] = architecture.split('\n## Glossary\n');
    const rows = section.split('\n## ')[0]?.match(/^\| (?!term|-)[^|]+ \| [^|]+ \|$/gm) ?? [];
    assert.ok(rows.length > 5 && rows.length <= glossary_max, `${rows.length} terms`);
  });

  test('every path in backticks leads to a file or a folder', (t) => {
    const guides = files.filter((path) => path.endsWith('.md'));
    t.diagnostic(`${guides.length} guides`);
    assert.ok(guides.length > 5, `saw only ${guides.length} guides`);
    const faults = guides.flatMap((path) =>
      deadPaths(readText(path), files).map((dead) => `${path}: ${dead}`),
    );
    assert.deepEqual(faults, []);
  });

  test('every file that a comment names exists', (t) => {
    // A migration that has run is never changed, whatever it names.
    const texts = typescriptFiles().filter(
      (path) => !isGenerated(path) && !path.startsWith('subgraphs/kernel/database/migrations/'),
    );
    t.diagnostic(`${texts.length} files`);
    assert.ok(texts.length > 500, `saw only ${texts.length} files`);
    const faults = texts.flatMap((path) =>
      deadNames(path, readText(path), files).map((dead) => `${path}: ${dead}`),
    );
    assert.deepEqual(faults, []);
  });

  test('every link to a section leads to its heading', () => {
    const guides = files.filter((path) => path.endsWith('.md'));
    const faults = guides.flatMap((path) =>
      deadAnchors(path, readText).map((dead) => `${path}: ${dead}`),
    );
    assert.deepEqual(faults, []);
  });
});

describe('the guide checks catch', () => {
  const whole =
    '#### A-001. A title (2026-11-21)\n- **Decision:** one.\n- **Rejected:** two.\n- **Measured:** three.';
  for (const [what, decision] of [
    ['no date', whole.replace(' (2026-11-21)', '')],
    ['no number', whole.replace('A-001. ', '')],
    ['nothing rejected', whole.replace('- **Rejected:** two.\n', '')],
    ['another item', `${whole}\n- **Note:** four.`],
    [
      'another order',
      whole.replace('Decision', 'Rejected').replace('Rejected:** two', 'Decision:** two'),
    ],
    ['too many words', whole.replace('one', 'word '.repeat(decisionWords_max))],
  ] as const)
    test(`a decision with ${what}`, () => assert.equal(decisionFaults(decision).length, 1));

  test('none in a decision of the form, with and without a measurement, on several lines', () => {
    assert.deepEqual(decisionFaults(whole), []);
    assert.deepEqual(decisionFaults(whole.replace('\n- **Measured:** three.', '')), []);
    assert.deepEqual(decisionFaults(whole.replace('two.', 'two\n  lines.')), []);
  });

  test('a path that leads nowhere, and none that leads to a file, a folder or into the wire', () => {
    const text =
      '`kernel/queue`, `kernel/events/relay`, `kernel/queue/gone`, `schema/openapi.yaml`, `schema/{wire,gone}`, `gateway/live/`, `application/json`, `/v1/public/payments`';
    assert.deepEqual(deadPaths(text, files), ['kernel/queue/gone', 'schema/{wire,gone}']);
  });

  test('a file that a comment names and that is gone, and none that exists or is code', () => {
    const text = `// relay.ts, gone.ts, \`events/relay\` and \`kernel/gone\`, \`application/json\`
      /** kernel/events/relay.ts, kernel/gone.ts */ const path = 'nowhere.ts';`;
    assert.deepEqual(deadNames('a.ts', text, files), ['gone.ts', 'kernel/gone.ts', 'kernel/gone']);
  });

  test('a link to a section that is not there, and none to one that is', () => {
    const texts: Readonly<Record<string, string>> = {
      'a/x.md':
        '## Some part, here\n[a](#some-part-here) [b](#gone) [c](../y.md#part) [d](../y.md#b)',
      'y.md': '### Part\n',
    };
    assert.deepEqual(
      deadAnchors('a/x.md', (path) => texts[path] ?? ''),
      ['#gone', '../y.md#b'],
    );
  });
});
