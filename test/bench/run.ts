/**
 * `npm run bench [-- summary] [-- create read ... peers soak] [--quick] [--minutes=30]
 * [--payments=5000000] ...`: measures the service against baselines in the same run and prints
 * ratios. What it measures it starts itself, each in processes of its own. No figure here fails
 * anything: machines differ. A part that cannot be measured does, after the others have been.
 */
import { openLoad } from './load.ts';
import {
  announce,
  limitOf,
  measureParts,
  partNames,
  summaryParts,
  type PartName,
} from './parts.ts';
import { planOf, sizeNames, type Sizes } from './plan.ts';
import { openProgress } from './progress.ts';
import { aimsOf, keep, tableOf } from './report.ts';

interface Asked {
  readonly parts: readonly PartName[];
  readonly quick: boolean;
  readonly sizes: Sizes;
  /** Whether the aims are the last thing printed, and the sizes those of ten minutes. */
  readonly summary: boolean;
}

/** What a summary measures less of. */
const summarySizes: Sizes = { rounds: 4, backlog: 10_000 };

const sizeArgument = /^--(\w+)=(\d+(?:\.\d+)?)$/;

/** What the command line asks for. Throws at what it does not know. */
const readArguments = (args: readonly string[]): Asked => {
  const sizes = Object.fromEntries(
    args.flatMap((argument) => {
      const [, name, size] = sizeArgument.exec(argument) ?? [];
      return sizeNames.some((known) => known === name) ? [[name, Number(size)]] : [];
    }),
  );
  const isKnown = (argument: string): boolean =>
    argument === '--quick' ||
    argument === 'summary' ||
    Object.hasOwn(sizes, sizeArgument.exec(argument)?.[1] ?? '') ||
    partNames.some((name) => name === argument);
  const unknown = args.filter((argument) => !isKnown(argument));
  if (unknown.length > 0) {
    throw new Error(
      `there is no ${unknown.join(', ')}; there is summary, ${partNames.join(', ')}, --quick, ${sizeNames.map((name) => `--${name}=<number>`).join(', ')}`,
    );
  }
  const named = partNames.filter((name) => args.includes(name));
  const summary = args.includes('summary');
  return {
    parts: named.length > 0 ? named : summary ? summaryParts : partNames,
    quick: args.includes('--quick'),
    sizes: summary ? { ...summarySizes, ...sizes } : sizes,
    summary,
  };
};

const main = async (args: readonly string[]): Promise<void> => {
  const { parts, quick, sizes, summary } = readArguments(args);
  const plan = planOf(quick, sizes);
  console.error(announce(parts, plan));
  await using load = openLoad();
  const at = Temporal.Now.instant();
  const { progress } = openProgress(limitOf(parts, plan));
  const { rows, failed } = await measureParts(parts, { plan, load, progress }, (soFar) =>
    keep(soFar, at),
  );
  if (rows.length > 0) {
    process.stdout.write(
      `\n${tableOf(rows)}\n\nRatios: more is better. A cost's ratio is the baseline's over the subject's. Written to ${keep(rows, at)}\n`,
    );
  }
  if (summary) process.stdout.write(`\nThe aims:\n\n${aimsOf(rows)}\n`);
  if (failed.length === 0) return;
  console.error(`\nNot measured:\n${failed.join('\n')}`);
  process.exitCode = 1;
};

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
