/**
 * `npm run check`: types, lint, format, generated files, the tidy tests and the bijection of routes
 * and operations, side by side. One line for each part says how much it saw and how long it took; a
 * part that saw less than there is has failed, whatever it found. Exits with 1 when a part failed.
 */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
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

const compiler = 'node_modules/typescript/bin/tsc';

/** The whole project; it looks again only at what has changed and at what that changes. */
const compileAll =
  `${compiler} -p . --pretty false --listFiles --incremental --tsBuildInfoFile node_modules/.cache/types.json`.split(
    ' ',
  );

/** The number that the pattern's first group finds; 0 when it finds none. */
const numberIn = (pattern: RegExp) => (output: string) => Number(pattern.exec(output)?.[1] ?? 0);

/** A line of `tsc --listFiles`: a file, not a finding. */
const isListedFile = (line: string): boolean =>
  /\.(d\.)?[cm]?[jt]sx?$|\.json$/.test(line) && !line.includes('): error ');

/** What `tsc --listFiles` printed without the list. */
const findings = (output: string): string =>
  output
    .split('\n')
    .filter((line) => !isListedFile(line))
    .join('\n');

const ownFiles = (output: string, ending: string): number =>
  output
    .split('\n')
    .filter(
      (line) => isListedFile(line) && line.endsWith(ending) && !line.includes('/node_modules/'),
    ).length;

/** Scripts that run in a browser: they see a browser's globals, not Node's. */
const browserScripts = projectFiles().filter((path) =>
  /^(?!test\/).*\/browser\/[^/]+\.js$/.test(path),
);

/** Each folder of them has a configuration of its own. */
const browserFolders = Map.groupBy(browserScripts, dirname);

/** The compiler on one folder's configuration. */
const types = (name: string, folder: string, ending: string, least: number): Part => ({
  name,
  command: [compiler, '-p', folder, '--pretty', 'false', '--listFiles'],
  seen: (output) => ownFiles(output, ending),
  unit: 'files',
  least,
  received: findings,
  remedy: 'mend the types',
});

/** The console's program has a configuration of its own, too. */
const ofConsole = (path: string): boolean => path.startsWith('console/src/');

const parts = (): readonly Part[] => [
  {
    ...types('types', '.', '.ts', typescriptFiles().filter((path) => !ofConsole(path)).length),
    command: compileAll,
  },
  ...Array.from(browserFolders, ([folder, scripts]) =>
    types(folder, folder, '.js', scripts.length),
  ),
  types(
    'console',
    'console',
    '.tsx',
    typescriptFiles().filter((path) => ofConsole(path) && path.endsWith('.tsx')).length,
  ),
  {
    name: 'lint',
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
    env,
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
