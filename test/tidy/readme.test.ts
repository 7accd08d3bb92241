/** README.md is short, shows what the program prints, and links every path that it names. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { firstPayment } from '../../main.ts';
import { projectFiles, readText } from './tree.ts';

const readme = readText('README.md');
const words_max = 900;

/** Paths of the project that a Markdown text names without a link to them. */
const unlinkedPaths = (text: string, files: readonly string[]): readonly string[] =>
  [...text.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '').matchAll(/`([^`\s]+)`/g)]
    .map(([, named = '']) => named.replace(/\/$/, ''))
    .filter((named) => files.some((file) => file === named || file.startsWith(`${named}/`)));

describe('README.md', () => {
  test('shows the first payment as the command that the start prints', () => {
    const command = firstPayment('http://127.0.0.1:4000', 'sk_test_...').join('\n');
    assert.ok(
      readme.includes(`\`\`\`sh\n${command}\n\`\`\``),
      `README.md should show:\n${command}`,
    );
  });

  test(`has at most ${words_max} words`, (t) => {
    const { length } = readme.split(/\s+/).filter((word) => word !== '');
    t.diagnostic(`${length} words`);
    assert.ok(length > 300 && length <= words_max, `${length} words`);
  });

  test('links every path that it names', () => {
    assert.deepEqual(unlinkedPaths(readme, projectFiles()), []);
  });

  test('is found naming a path without a link, of a file and of a folder', () => {
    const text = 'see `main.ts`, `test/`, [`setup.mjs`](setup.mjs), `/docs` and `.data`';
    assert.deepEqual(unlinkedPaths(text, projectFiles()), ['main.ts', 'test']);
  });
});
