/**
 * Payments a second with one, two and four processes that answer, on one database: whether another
 * process adds what another core has to give. Once with the payments of many merchants alike, and
 * once with most of them of one merchant.
 */
import { availableParallelism } from 'node:os';
import { openLoad, type Load, type LoadResult } from '../load.ts';
import { createRequest } from '../payment-requests.ts';
import { connections, type Bench } from '../plan.ts';
import { cpuOfProcess } from '../cpu.ts';
import type { Row } from '../report.ts';
import {
  measureInRounds,
  medianOf,
  medianRatio,
  type Sample,
  type Samples,
  type Subject,
} from '../rounds.ts';
import { withClocks } from '../subject.ts';
import { busyMerchant, startBeside, type Fixture } from '../fixture.ts';

const counts = [1, 2, 4] as const;

type Answering = Fixture['service'];

const together = (results: readonly LoadResult[]): LoadResult => ({
  answered: results.reduce((sum, { answered }) => sum + answered, 0),
  elapsed_ms: Math.max(...results.map(({ elapsed_ms }) => elapsed_ms)),
  p50_us: Math.max(...results.map(({ p50_us }) => p50_us)),
  p99_us: Math.max(...results.map(({ p99_us }) => p99_us)),
  each_us: [],
});

/** What is sent, and how it is called. */
interface Traffic {
  readonly name: string;
  readonly requests: readonly string[];
}

/** Payments of the merchants in turn; and four of five of them the first merchant's. */
const trafficOf = (keys: readonly string[]): readonly [spread: Traffic, skewed: Traffic] => {
  const requests = keys.map(createRequest);
  const [first = ''] = requests;
  return [
    { name: `of ${keys.length} merchants alike`, requests },
    {
      name: 'four of five of one merchant',
      requests: requests.flatMap((request) => [first, first, first, first, request]),
    },
  ];
};

/**
 * So many processes as one subject: the same connections as ever, shared out evenly, each share
 * with a load generator of its own.
 */
const processesSubject = (
  services: readonly Answering[],
  { name, requests }: Traffic,
  loads: readonly Load[],
  { postgres }: Fixture,
): Subject => ({
  name: `${services.length} process${services.length === 1 ? '' : 'es'}, ${name}`,
  measure: async ({
    connections: all,
    duration_ms,
    requests_max = Number.MAX_SAFE_INTEGER,
  }): Promise<Sample> => {
    const share = {
      connections: Math.ceil(all / services.length),
      requests_max: Math.ceil(requests_max / services.length),
      duration_ms,
    };
    const run = async (): Promise<LoadResult> =>
      together(
        await Promise.all(
          services.map(({ url }, index) => loadAt(loads, index).run({ url, requests, ...share })),
        ),
      );
    const { result, each_us } = await withClocks(
      [...services.map(({ pid }) => cpuOfProcess(pid)), postgres],
      run,
    );
    const own = each_us.slice(0, -1);
    const server_us = own.some((time) => time === null)
      ? null
      : own.reduce<number>((sum, time) => sum + (time ?? 0), 0);
    return {
      perSecond: (result.answered * 1_000) / result.elapsed_ms,
      p50_us: result.p50_us,
      server_us,
      postgres_us: each_us.at(-1) ?? null,
    };
  },
});

const loadAt = (loads: readonly Load[], index: number): Load => {
  const load = loads[index];
  if (!load) throw new Error('there are fewer load generators than processes');
  return load;
};

/** One subject's throughput over another's, measured in the same rounds. */
const rowOf = (
  what: string,
  subject: Subject,
  baseline: Subject,
  aim: Row['aim'],
  samples: Samples,
): Row => {
  const [its, base] = [samples.get(subject) ?? [], samples.get(baseline) ?? []];
  const rate = (of: readonly Sample[]): string =>
    `${(medianOf(of, ({ perSecond }) => perSecond) ?? Number.NaN).toFixed(0)}/s`;
  const cpu = (of: readonly Sample[]): string =>
    `${(medianOf(of, ({ server_us }) => server_us) ?? Number.NaN).toFixed(0)} us`;
  const figures = `${rate(its)} to ${rate(base)}, CPU each ${cpu(its)} to ${cpu(base)}, ${connections} connections, ${availableParallelism()} cores`;
  return {
    what,
    against: baseline.name,
    ratio: medianRatio(its, base, ({ perSecond }) => perSecond),
    aim,
    rounds: its.length,
    figures,
  };
};

/**
 * The rows: two and four processes against one, for either traffic, and mostly one merchant against
 * many with four. With as many cores as processes the aim would be their number; generators and
 * PostgreSQL take theirs.
 */
export const processRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  bench.progress(`processes: starting three more, and making ${bench.plan.merchants} merchants`);
  const most = Math.max(...counts);
  const others = await Promise.all(
    Array.from({ length: most - 1 }, () => startBeside(fixture, {}, stack)),
  );
  const loads = Array.from({ length: most }, () => stack.use(openLoad()));
  const services = [fixture.service, ...others];
  const keys = [fixture.merchant.key];
  while (keys.length < bench.plan.merchants) keys.push((await busyMerchant(fixture.service)).key);
  const say = (text: string): void => bench.progress(`processes: ${text}`);
  const rows: Row[] = [];
  const widest: Subject[] = [];
  const subjects = trafficOf(keys).map((traffic) =>
    counts.map((count) => processesSubject(services.slice(0, count), traffic, loads, fixture)),
  );
  const samples = await measureInRounds(subjects.flat(), bench.plan.many, say);
  for (const [alone, ...more] of subjects) {
    if (alone)
      rows.push(
        ...more.map((subject) => rowOf(`create, ${subject.name}`, subject, alone, null, samples)),
      );
    widest.push(...more.slice(-1));
  }
  const [spread, skewed] = widest;
  return spread && skewed
    ? [...rows, rowOf(`create, ${skewed.name}`, skewed, spread, { least: 0.8 }, samples)]
    : rows;
};
