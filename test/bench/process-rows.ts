/** Payments a second with one, two and four processes that answer, on one database: whether another process adds what another core has to give. */
import { availableParallelism } from 'node:os';
import { openLoad, type Load, type LoadResult } from './load.ts';
import { createRequest } from './payment-requests.ts';
import { connections, type Bench } from './plan.ts';
import { cpuOfProcess } from './cpu.ts';
import type { Row } from './report.ts';
import { measureInRounds, medianOf, medianRatio, type Sample, type Subject } from './rounds.ts';
import { withClocks } from './subject.ts';
import { startBeside, type World } from './world.ts';

const counts = [1, 2, 4] as const;

type Answering = World['service'];

const together = (results: readonly LoadResult[]): LoadResult => ({
  answered: results.reduce((sum, { answered }) => sum + answered, 0),
  elapsed_ms: Math.max(...results.map(({ elapsed_ms }) => elapsed_ms)),
  p50_us: Math.max(...results.map(({ p50_us }) => p50_us)),
});

/** So many processes as one subject: the same connections as ever, shared out evenly, each share with a load generator of its own. */
const processesSubject = (services: readonly Answering[], loads: readonly Load[], { merchant, postgres }: World): Subject => ({
  name: `${services.length} processes`,
  measure: async ({ connections: all, duration_ms, requests_max = Number.MAX_SAFE_INTEGER }): Promise<Sample> => {
    const share = { connections: Math.ceil(all / services.length), requests_max: Math.ceil(requests_max / services.length), duration_ms };
    const run = async (): Promise<LoadResult> =>
      together(await Promise.all(services.map(({ url }, index) => loadAt(loads, index).run({ url, requests: [createRequest(merchant.key)], ...share }))));
    const { result, each_us } = await withClocks([...services.map(({ pid }) => cpuOfProcess(pid)), postgres], run);
    const own = each_us.slice(0, -1);
    const server_us = own.some((time) => time === null) ? null : own.reduce<number>((sum, time) => sum + (time ?? 0), 0);
    return { perSecond: (result.answered * 1_000) / result.elapsed_ms, p50_us: result.p50_us, server_us, postgres_us: each_us.at(-1) ?? null };
  },
});

const loadAt = (loads: readonly Load[], index: number): Load => {
  const load = loads[index];
  if (!load) throw new Error('there are fewer load generators than processes');
  return load;
};

/** The rows: two and four against one. With as many cores as processes the aim would be their number; generators and PostgreSQL take theirs. */
export const processRows = async (world: World, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  bench.progress('processes: starting three more');
  const most = Math.max(...counts);
  const others = await Promise.all(Array.from({ length: most - 1 }, () => startBeside(world.databaseUrl, {}, stack)));
  const loads = Array.from({ length: most }, () => stack.use(openLoad()));
  const services = [world.service, ...others];
  const subjects = counts.map((count) => processesSubject(services.slice(0, count), loads, world));
  const samples = await measureInRounds(subjects, bench.plan.many, (text) => bench.progress(`processes: ${text}`));
  const [alone, ...more] = subjects;
  const base = alone ? (samples.get(alone) ?? []) : [];
  const rate = (of: readonly Sample[]): string => `${(medianOf(of, ({ perSecond }) => perSecond) ?? Number.NaN).toFixed(0)}/s`;
  const cpu = (of: readonly Sample[]): string => `${(medianOf(of, ({ server_us }) => server_us) ?? Number.NaN).toFixed(0)} us`;
  return more.map((subject) => {
    const its = samples.get(subject) ?? [];
    const figures = `${rate(its)} to ${rate(base)}, CPU each ${cpu(its)} to ${cpu(base)}, ${connections} connections, ${availableParallelism()} cores`;
    return {
      what: `create, ${subject.name}`,
      against: '1 process',
      ratio: medianRatio(its, base, ({ perSecond }) => perSecond),
      aim: null,
      rounds: its.length,
      figures,
    };
  });
};
