/** What a run found: one row per claim, printed as a table and kept as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { medianOf, medianRatio, type Sample, type Samples, type Subject } from './rounds.ts';

/** At least so much, or what is expected of something that is shown for comparison. */
export type Aim = { readonly least: number } | { readonly from: number; readonly to: number };

export interface Row {
  readonly what: string;
  /** The baseline, measured in the same rounds. */
  readonly against: string;
  /**
   * More is better: throughput over the baseline's, or the baseline's cost over this one's. Null:
   * see `figures`.
   */
  readonly ratio: number | null;
  readonly aim: Aim | null;
  readonly rounds: number;
  /** The medians behind the ratio, or why there is none. */
  readonly figures: string;
}

/** The row of a cost that has a limit: its ratio is the limit over what was measured. */
export const limitRow = ({
  what,
  measured,
  most,
  unit,
}: {
  readonly what: string;
  readonly measured: number | null;
  readonly most: number;
  readonly unit: string;
}): Row => ({
  what,
  against: `at most ${most} ${unit}`,
  ratio: measured === null ? null : most / measured,
  aim: { least: 1 },
  rounds: 1,
  figures: measured === null ? 'unknown on this system' : `${rounded(measured)} ${unit}`,
});

/** Whether the aim is met; null where there is none, or nothing was measured. */
export const isMet = ({ ratio, aim }: Row): boolean | null =>
  ratio === null || aim === null || !('least' in aim) ? null : ratio >= aim.least;

const rounded = (value: number | null): string =>
  value === null ? 'unknown' : value.toFixed(value < 10 ? 1 : 0);

/** CPU time of everything that answers a request. */
const cpuOf = ({ server_us, postgres_us }: Sample): number | null =>
  server_us === null ? null : server_us + (postgres_us ?? 0);

const cpuFigures = (samples: readonly Sample[]): string => {
  const [server, postgres] = [
    medianOf(samples, ({ server_us }) => server_us),
    medianOf(samples, ({ postgres_us }) => postgres_us),
  ];
  return [
    ...(server === null ? [] : [`server ${rounded(server)}`]),
    ...(postgres === null ? [] : [`PostgreSQL ${rounded(postgres)}`]),
  ].join(' + ');
};

export interface Comparison {
  readonly what: string;
  readonly subject: Subject;
  readonly baseline: Subject;
  readonly aim: Aim | null;
}

const perSecond = (sample: Sample): number => sample.perSecond;
const speed = (samples: readonly Sample[]): string => `${rounded(medianOf(samples, perSecond))}/s`;
const wait = (samples: readonly Sample[]): string =>
  `${rounded(medianOf(samples, ({ p50_us }) => p50_us))} us`;

/** The row of one comparison's throughput with so many connections. */
export const throughputRow = (
  { what, subject, baseline, aim }: Comparison,
  samples: Samples,
  connections: number,
): Row => {
  const [ours, base] = [samples.get(subject), samples.get(baseline)];
  if (!ours || !base) throw new Error(`${what} was not measured`);
  return {
    what: `${what}, ${connections} connections`,
    against: baseline.name,
    ratio: medianRatio(ours, base, perSecond),
    aim,
    rounds: ours.length,
    figures: `${speed(ours)} to ${speed(base)}, half within ${wait(ours)} to ${wait(base)}`,
  };
};

/** The row of one comparison's CPU time; none where it cannot be known. */
export const cpuRows = (
  { what, subject, baseline, aim }: Comparison,
  samples: Samples,
): readonly Row[] => {
  const [ours, base] = [samples.get(subject) ?? [], samples.get(baseline) ?? []];
  const ratio = medianRatio(base, ours, cpuOf);
  if (ratio === null) return [];
  return [
    {
      what: `${what}, CPU per request`,
      against: baseline.name,
      ratio,
      aim,
      rounds: ours.length,
      figures: `${cpuFigures(ours)} us to ${cpuFigures(base)} us`,
    },
  ];
};

/**
 * The rows of one comparison: throughput with many connections and with one, and CPU time, which
 * other work on the machine disturbs least.
 */
export const comparisonRows = (
  comparison: Comparison,
  many: Samples,
  one: Samples,
  connections: number,
): readonly Row[] => {
  const { what, subject, baseline } = comparison;
  const [single, singleBase] = [one.get(subject), one.get(baseline)];
  if (!single || !singleBase) throw new Error(`${what} was not measured`);
  const against = baseline.name;
  return [
    throughputRow(comparison, many, connections),
    {
      what: `${what}, 1 connection`,
      against,
      ratio: medianRatio(single, singleBase, perSecond),
      aim: null,
      rounds: single.length,
      figures: `half within ${wait(single)} to ${wait(singleBase)}`,
    },
    ...cpuRows(comparison, many),
  ];
};

const aimText = ({ aim }: Row): string =>
  aim === null
    ? ''
    : 'least' in aim
      ? `at least ${aim.least}`
      : `${aim.from} to ${aim.to}, to compare`;
const metText = (row: Row): string =>
  ({ true: 'met', false: 'NOT MET', null: '' })[`${isMet(row)}`];

const textTable = (head: readonly string[], cells: readonly (readonly string[])[]): string => {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const lineOf = (line: readonly string[]): string =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [
    lineOf(head),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...cells.map(lineOf),
  ].join('\n');
};

const ratioText = ({ ratio }: Row): string => (ratio === null ? '-' : ratio.toFixed(2));

/** The rows as a table for a person. */
export const tableOf = (rows: readonly Row[]): string =>
  textTable(
    ['what', 'against', 'ratio', 'aim', '', 'rounds', 'medians'],
    rows.map((row) => [
      row.what,
      row.against,
      ratioText(row),
      aimText(row),
      metText(row),
      row.rounds === 0 ? '' : `${row.rounds}`,
      row.figures,
    ]),
  );

/** What was aimed at, what was measured, and what was missed, the missed first. */
export const aimsOf = (rows: readonly Row[]): string => {
  const aims = rows.filter((row) => isMet(row) !== null);
  const missed = aims.filter((row) => isMet(row) === false);
  const cells = [...missed, ...aims.filter(isMet)].map((row) => [
    metText(row),
    row.what,
    aimText(row),
    ratioText(row),
    row.against,
  ]);
  return `${textTable(['', 'what', 'aim', 'measured', 'against'], cells)}\n\n${missed.length} of ${aims.length} aims missed.`;
};

const folder = join(import.meta.dirname, 'results');

/** Writes the rows as JSON beside earlier runs' and as `latest.json`; gives the file's path. */
export const keep = (rows: readonly Row[], at: Temporal.Instant): string => {
  mkdirSync(folder, { recursive: true });
  const machine = {
    cpus: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    load: loadavg(),
    platform: process.platform,
    node: process.version,
  };
  const text = stripVTControlCharacters(
    JSON.stringify(
      { at: at.toString(), machine, rows: rows.map((row) => ({ ...row, met: isMet(row) })) },
      null,
      2,
    ),
  );
  const path = join(folder, `${at.toString({ smallestUnit: 'second' }).replaceAll(':', '-')}.json`);
  for (const file of [path, join(folder, 'latest.json')]) writeFileSync(file, `${text}\n`);
  return path;
};
