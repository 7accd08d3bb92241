/**
 * `npm run bench [-- create read ... peers soak] [--quick] [--minutes=30] [--payments=5000000]
 * ...`: measures the service against baselines in the same run and prints ratios. What it measures
 * it starts itself, each in processes of its own. No figure here fails anything: machines differ. A
 * part that cannot be measured does, after the others have been.
 */
import { openLoad } from './load.ts';
import { announce, limitOf, measureParts, partNames, type PartName } from './parts.ts';
import { planOf, sizeNames, type Sizes } from './plan.ts';
import { openProgress } from './progress.ts';
import { keep, tableOf } from './report.ts';

interface Asked {
  readonly parts: readonly PartName[];
  readonly quick: boolean;
  readonly sizes: Sizes;
}

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
    Object.hasOwn(sizes, sizeArgument.exec(argument)?.[1] ?? '') ||
    partNames.some((name) => name === argument);
  const unknown = args.filter((argument) => !isKnown(argument));
  if (unknown.length > 0) {
    throw new Error(
      `there is no ${unknown.join(', ')}; there is ${partNames.join(', ')}, --quick, ${sizeNames.map((name) => `--${name}=<number>`).join(', ')}`,
    );
  }
  const named = partNames.filter((name) => args.includes(name));
  return { parts: named.length > 0 ? named : partNames, quick: args.includes('--quick'), sizes };
};

const main = async (args: readonly string[]): Promise<void> => {
  const { parts, quick, sizes } = readArguments(args);
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
  if (failed.length === 0) return;
  console.error(`\nNot measured:\n${failed.join('\n')}`);
  process.exitCode = 1;
};

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
