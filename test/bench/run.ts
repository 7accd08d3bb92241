/**
 * `npm run bench [-- create read ... peers soak] [--quick] [--minutes=30]`: measures the service against baselines in the same run and prints ratios. What it measures it
 * starts itself, each in processes of its own. No figure here fails anything: machines differ.
 */
import { constantRows } from './constant-rows.ts';
import { csvRows } from './csv-row.ts';
import { createRows, readRows } from './database-rows.ts';
import { eventRows } from './event-rows.ts';
import { openLoad } from './load.ts';
import { memoryRows } from './memory-row.ts';
import { payoutRows } from './payout-rows.ts';
import { peerRows } from './peer-rows.ts';
import { planOf, type Bench } from './plan.ts';
import { processRows } from './process-rows.ts';
import { keep, tableOf, type Row } from './report.ts';
import { recurringRows } from './recurring-row.ts';
import { registryRows } from './registry-rows.ts';
import { soakRows } from './soak-rows.ts';
import { spreadRows } from './spread-rows.ts';
import { startRows } from './start-rows.ts';
import { traceRows } from './trace-rows.ts';
import { openWorld, type World } from './world.ts';

const partNames = [
  'create',
  'read',
  'csv',
  'memory',
  'start',
  'registry',
  'payouts',
  'spread',
  'processes',
  'trace',
  'events',
  'recurring',
  'peers',
  'soak',
] as const;
type Part = (typeof partNames)[number];

const overPostgres: readonly (readonly [Part, (world: World, bench: Bench) => Promise<readonly Row[]>])[] = [
  ['create', createRows],
  ['read', readRows],
  ['memory', memoryRows],
  ['csv', csvRows],
  ['spread', spreadRows],
  ['processes', processRows],
  ['trace', traceRows],
  ['payouts', payoutRows],
  ['recurring', recurringRows],
];

const rowsOverPostgres = async (parts: ReadonlySet<Part>, bench: Bench): Promise<readonly Row[]> => {
  const asked = overPostgres.filter(([part]) => parts.has(part));
  if (asked.length === 0) return [];
  await using world = await openWorld(bench.progress);
  const rows: Row[] = [];
  for (const [, rowsOf] of asked) rows.push(...(await rowsOf(world, bench)));
  return rows;
};

const measure = async (parts: ReadonlySet<Part>, bench: Bench): Promise<readonly Row[]> => {
  const rows = [...(await rowsOverPostgres(parts, bench))];
  for (const operation of ['create', 'read'] as const) if (parts.has(operation)) rows.push(...(await constantRows(operation, bench)));
  if (parts.has('start')) rows.push(...(await startRows(bench)));
  if (parts.has('registry')) rows.push(...(await registryRows(bench)));
  if (parts.has('peers')) rows.push(...(await peerRows(bench)));
  if (parts.has('soak')) rows.push(...(await soakRows(bench)));
  if (parts.has('events')) rows.push(...(await eventRows(bench)));
  return rows;
};

/** Says what is going on, after how many seconds; throws once the run is to stop, which takes down what has been started. */
const openProgress = (): Bench['progress'] => {
  const began_ms = performance.now();
  let stopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (stopped = true));
  return (text) => {
    if (stopped) throw new Error('stopped');
    console.error(`${((performance.now() - began_ms) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
  };
};

const minutesArgument = /^--minutes=(\d+(?:\.\d+)?)$/;

const minutesOf = (args: readonly string[]): number | null => {
  const [minutes] = args.flatMap((argument) => minutesArgument.exec(argument)?.[1] ?? []);
  return minutes === undefined ? null : Number(minutes);
};

const main = async (args: readonly string[]): Promise<void> => {
  const unknown = args.filter((argument) => argument !== '--quick' && !minutesArgument.test(argument) && !partNames.some((name) => name === argument));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; there is ${partNames.join(', ')}, --quick and --minutes=<of the soak>`);
  const named = partNames.filter((name) => args.includes(name));
  await using load = openLoad();
  const bench = { plan: planOf(args.includes('--quick'), minutesOf(args)), load, progress: openProgress() };
  const rows = await measure(new Set(named.length > 0 ? named : partNames), bench);
  console.log(
    `\n${tableOf(rows)}\n\nRatios: more is better. A cost's ratio is the baseline's over the subject's. Written to ${keep(rows, Temporal.Now.instant())}`,
  );
};

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
