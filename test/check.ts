/**
 * `npm run check`: lint and types, format, generated files, the tidy tests and the bijection of routes
 * and operations, side by side. One line for each part says how much it saw and how long it took; a
 * part that saw less than there is has failed, whatever it found. Exits with 1 when a part failed.
 */
import { spawn } from 'node:child_process';
import { isGenerated, projectFiles, root, typescriptFiles } from './tidy/tree.ts';

interface Part {
  readonly name: string;
  /** Arguments of this same Node. */
  readonly command: readonly string[];
  /** How much it saw, by what it printed. */
  readonly seen: (output: string) => number;
  readonly unit: string;
  /** Fewer than this is a checker that looks in the wrong place. */
  readonly least: number;
  /** What it printed, without what a reader of a failure does not need. */
  readonly received?: (output: string) => string;
  /** What to do when it fails. */
  readonly remedy: string;
}

/** The number that the pattern's first group finds; 0 when it finds none. */
const numberIn = (pattern: RegExp) => (output: string) => Number(pattern.exec(output)?.[1] ?? 0);

const parts = (): readonly Part[] => [
  {
    name: 'lint and types',
    command: ['node_modules/oxlint/bin/oxlint'],
    seen: numberIn(/ on (\d+) files/),
    unit: 'files',
    least: typescriptFiles().filter((path) => !isGenerated(path)).length,
    remedy: 'correct what it names; `npx oxlint --fix` corrects some',
  },
  {
    name: 'format',
    command: ['node_modules/oxfmt/bin/oxfmt', '--check'],
    seen: numberIn(/ on (\d+) files/),
    unit: 'files',
    least: projectFiles().filter((path) => /\.(ts|graphql|ya?ml)$/.test(path) && !isGenerated(path))
      .length,
    remedy: 'run: npm run format',
  },
  {
    name: 'generated',
    command: ['schema/build.ts', '--check'],
    seen: numberIn(/checked (\d+) generated files/),
    unit: 'files',
    least: 1,
    remedy: 'run: npm run generate',
  },
  {
    name: 'tidy',
    command: [
      '--test',
      '--test-isolation=none',
      '--test-reporter=spec',
      'test/tidy/*.test.ts',
      'test/contract/{routes,schema}.test.ts',
    ],
    seen: numberIn(/ℹ tests (\d+)/),
    unit: 'tests',
    least: 1,
    received: (output) => output.slice(Math.max(0, output.indexOf('failing tests:'))),
    remedy: 'correct what it names; docs/architecture.md has the rules',
  },
];

/** Runs a part to its end, prints its line, and gives whether it passed. */
const check = async (part: Part): Promise<boolean> => {
  const began_ms = performance.now();
  // Inside a run of `node --test` this variable would turn a run of tests into a report to the
  // outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, part.command, {
    cwd: root,
    // The linter checks types in Go, whose garbage took a fifth of its CPU; it needs no more memory.
    env: { GOGC: '400', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject).on('close', resolve);
  const code = await promise;

  const seen = part.seen(output);
  const passed = code === 0 && seen >= part.least;
  const took = `${((performance.now() - began_ms) / 1_000).toFixed(1)} s`;
  console.log(
    `${part.name.padEnd(29)} ${passed ? 'ok    ' : 'FAILED'} ${String(seen).padStart(5)} ${part.unit}  ${took}`,
  );
  if (passed) return true;
  console.log(`\n${(part.received ?? String)(output).trim()}\n`);
  if (seen < part.least)
    console.log(
      `${part.name} saw ${seen} ${part.unit} and there are at least ${part.least}: it does not look where it should`,
    );
  console.log(`${part.name}: ${part.remedy}\n`);
  return false;
};

const results = await Promise.all(parts().map(check));
if (results.includes(false)) process.exitCode = 1;
