/**
 * The whole service under everything at once, for as long as `--minutes=` says: payments and
 * payouts are created, payments, registry pages, ledger and balance read, webhooks delivered, a
 * stream listened to, at a steady rate that the machine can do. Whether waiting time and memory of
 * every process stay what they were. In one process (`soak`), and in one for each role (`fleet`).
 */
import { findOutsidePrograms } from '../../support/outside-programs.ts';
import type { Size } from '../../support/service.ts';
import type { LoadResult } from '../load.ts';
import type { Bench } from '../plan.ts';
import type { Row } from '../report.ts';
import { median } from '../rounds.ts';
import { openSoakHarness, type SoakHarness } from '../soak-harness.ts';
import { memoryByName } from '../watched-memory.ts';

/**
 * Tenths of the time. The first is left out of the comparisons: programs are compiled as they run.
 */
const looks = 10;
const soakConnections = 8;
/** Of what the machine can do at the beginning. */
const share = 0.4;
const slice_ms = 10_000;
const flatWaiting = 0.8;
/** A program's own storage breathes by so much, in one direction or the other; more is growth. */
const breathLeast_MiB = 8;
const breathShare = 0.05;

interface Look {
  readonly perSecond: number;
  readonly p50_us: number;
  readonly p99_us: number;
  /** Medians by request, in the order of the requests. */
  readonly each_us: readonly number[];
  /** By process, the least that it held: what is left when it has tidied up. */
  readonly least_MiB: ReadonlyMap<string, number>;
  readonly webhooks: number;
}

const lookOf = (
  results: readonly LoadResult[],
  memories: readonly ReadonlyMap<string, number>[],
  webhooks: number,
): Look => {
  const answered = results.reduce((sum, result) => sum + result.answered, 0);
  const elapsed_ms = results.reduce((sum, result) => sum + result.elapsed_ms, 0);
  const least = (name: string): number =>
    Math.min(...memories.map((memory) => memory.get(name) ?? Infinity));
  return {
    perSecond: (answered * 1_000) / elapsed_ms,
    p50_us: median(results.map(({ p50_us }) => p50_us)),
    p99_us: median(results.map(({ p99_us }) => p99_us)),
    each_us: (results[0]?.each_us ?? []).map((_, index) =>
      median(results.map(({ each_us }) => each_us[index] ?? Number.NaN)),
    ),
    least_MiB: new Map([...(memories[0]?.keys() ?? [])].map((name) => [name, least(name)])),
    webhooks: (webhooks * 1_000) / elapsed_ms,
  };
};

const ms = (time_us: number): string => `${(time_us / 1_000).toFixed(1)} ms`;
const memoryText = (memory: ReadonlyMap<string, number>): string =>
  Array.from(memory, ([name, held]) => `${name} ${held.toFixed(0)}`).join(', ');

const lookText = ({ perSecond, p50_us, p99_us, least_MiB, webhooks }: Look): string =>
  `${perSecond.toFixed(0)}/s, half within ${ms(p50_us)}, 99 % within ${ms(p99_us)}; ${webhooks.toFixed(0)} webhooks/s; MiB: ${memoryText(least_MiB)}`;

/** Sends everything for the whole time, and looks. */
const soak = async (
  { url, requests, processes, received }: SoakHarness,
  { plan, load }: Bench,
  say: (text: string) => void,
): Promise<readonly Look[]> => {
  const texts = Object.values(requests);
  const total_ms = plan.soakMinutes * 60_000;
  const send = (duration_ms: number, perSecond_max?: number): Promise<LoadResult> =>
    load.run({
      url,
      requests: texts,
      connections: soakConnections,
      duration_ms,
      requests_max: Number.MAX_SAFE_INTEGER,
      ...(perSecond_max ? { perSecond_max } : {}),
    });
  const trial_ms = Math.min(20_000, total_ms / 10);
  await send(trial_ms);
  const { answered, elapsed_ms } = await send(trial_ms);
  const rate = Math.max(soakConnections, share * ((answered * 1_000) / elapsed_ms));
  say(
    `${rate.toFixed(0)} requests a second from now on, of ${((answered * 1_000) / elapsed_ms).toFixed(0)} that it can do`,
  );
  const seen: Look[] = [];
  const slices = Math.max(1, Math.round(total_ms / looks / slice_ms));
  for (let look = 1; look <= looks; look += 1) {
    const [results, memories]: [LoadResult[], ReadonlyMap<string, number>[]] = [[], []];
    const before = received.webhooks;
    for (let slice = 1; slice <= slices; slice += 1) {
      results.push(await send(total_ms / looks / slices, rate));
      memories.push(memoryByName(processes));
      if (slice < slices && slice % 6 === 0)
        say(`${look} of ${looks}, ${received.webhooks} webhooks, ${received.events} events`);
    }
    const found = lookOf(results, memories, received.webhooks - before);
    seen.push(found);
    say(`${look} of ${looks}: ${lookText(found)}`);
  }
  return seen;
};

type Figure = (look: Look) => number;

/** The middle of a figure over some of the tenths. */
const over = (seen: readonly Look[], from: number, to: number, figure: Figure): number =>
  median(seen.slice(from, to).map(figure));

const memoryRows = (title: string, seen: readonly Look[], minutes: number): readonly Row[] =>
  [...(seen[0]?.least_MiB.keys() ?? [])].map((name) => {
    const held: Figure = ({ least_MiB }) => least_MiB.get(name) ?? Number.NaN;
    const [middle, end] = [over(seen, 4, 6, held), over(seen, 8, 10, held)];
    // PostgreSQL fills the buffers that it was given, and Redis holds what waits: their sizes are
    // set elsewhere.
    const isStore = name === 'PostgreSQL' || name === 'Redis';
    const perHour = ((end - middle) / (minutes * 0.4)) * 60;
    const breath_MiB = Math.max(breathLeast_MiB, middle * breathShare);
    const ratio = (middle + breath_MiB) / end;
    return {
      what: `${title}, memory of ${name}`,
      against: `its middle and ${breath_MiB.toFixed(0)} MiB`,
      ratio,
      aim: isStore ? null : { least: 1 },
      rounds: 1,
      figures: `${ratio >= 1 ? 'flat' : `grows by ${perHour.toFixed(0)} MiB an hour`}; MiB by tenths: ${seen.map((look) => held(look).toFixed(0)).join(', ')}`,
    };
  });

const rowsOf = (
  title: string,
  seen: readonly Look[],
  { requests, received }: SoakHarness,
  minutes: number,
): readonly Row[] => {
  const row = (
    what: string,
    figure: Figure,
    isCost: boolean,
    least: number | null,
    figures: string,
  ): Row => {
    const [early, late] = [over(seen, 1, 4, figure), over(seen, 7, 10, figure)];
    return {
      what: `${title}, ${what}`,
      against: 'its beginning',
      ratio: isCost ? early / late : late / early,
      aim: least === null ? null : { least },
      rounds: 1,
      figures,
    };
  };
  const byTenths = (figure: Figure, digits: number): string =>
    seen.map((look) => figure(look).toFixed(digits)).join(', ');
  const half: Figure = ({ p50_us }) => p50_us / 1_000;
  const nearlyAll: Figure = ({ p99_us }) => p99_us / 1_000;
  return [
    row(
      'requests a second',
      ({ perSecond }) => perSecond,
      false,
      flatWaiting,
      `by tenths: ${byTenths(({ perSecond }) => perSecond, 0)}`,
    ),
    row('waiting, half', half, true, flatWaiting, `ms by tenths: ${byTenths(half, 1)}`),
    row('waiting, 99 %', nearlyAll, true, null, `ms by tenths: ${byTenths(nearlyAll, 0)}`),
    ...Object.keys(requests).map((name, index) => {
      const its: Figure = ({ each_us }) => (each_us[index] ?? Number.NaN) / 1_000;
      return row(`${name}, half`, its, true, null, `ms by tenths: ${byTenths(its, 1)}`);
    }),
    row(
      'webhooks a second',
      ({ webhooks }) => webhooks,
      false,
      flatWaiting,
      `by tenths: ${byTenths(({ webhooks }) => webhooks, 0)}; ${received.events} events of the stream`,
    ),
    ...memoryRows(title, seen, minutes),
  ];
};

const soakOf = async (name: string, size: Size, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const say = (text: string): void => bench.progress(`${name}: ${text}`);
  if (size === 'separate') findOutsidePrograms(false);
  say('starting the whole service');
  const service = await openSoakHarness(size, stack);
  const { soakMinutes } = bench.plan;
  return rowsOf(
    `${name} of ${soakMinutes} min`,
    await soak(service, bench, say),
    service,
    soakMinutes,
  );
};

/** The rows of the service in one process. */
export const soakRows = (bench: Bench): Promise<readonly Row[]> => soakOf('soak', 'one', bench);

/** The rows of the service with a process for each role, on Redis. */
export const fleetSoakRows = (bench: Bench): Promise<readonly Row[]> =>
  soakOf('fleet', 'separate', bench);
