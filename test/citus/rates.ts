/**
 * What spreading costs: payments created per second beside plain PostgreSQL of the same programs,
 * in rounds by turns, and the CPU time of all servers while nothing happens. Both are printed.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { busyMerchant, connections, createRequest } from '../bench/sides.ts';
import { openLoad, type Load } from '../bench/load.ts';
import { migrateTemplate } from '../support/migrated.ts';
import { startService, type Service } from '../support/service.ts';
import { distribute, startCitus, startPlain, type Servers } from './servers.ts';

/** What a spread database must reach of a plain one's creates per second. */
const ratio_min = 0.6;
/** What all servers together may take of one core while nothing happens. */
const idleCore_max = 0.1;
const merchants = 8;
const rounds = 3;
const round_ms = 8_000;
const warmUp_ms = 10_000;
/** What a load leaves to do: webhooks, folds, the looks that become rarer. */
const settle_ms = 20_000;
const idle_ms = 30_000;

interface Side {
  readonly servers: Servers;
  readonly service: Service;
  readonly requests: readonly string[];
}

const bin = process.env['CITUS_BIN'] ?? '';

const openSide = async (servers: Servers): Promise<Side> => {
  const service = await startService('one', {
    DATABASE_URL: servers.url,
    DATABASE_POOL: `${connections}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    NODE_ENV: 'production',
  });
  const requests: string[] = [];
  for (let index = 0; index < merchants; index += 1)
    requests.push(createRequest((await busyMerchant({ url: service.rest })).key));
  return { servers, service, requests };
};

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

const foldersIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** Nanoseconds that the threads of a process have run; null when it cannot be known. */
const processCpu_ns = (pid: number): number | null => {
  const threads = foldersIn(`/proc/${pid}/task`).map((thread) =>
    read(`/proc/${pid}/task/${thread}/schedstat`),
  );
  const known = threads.filter((text) => text !== null);
  return known.length === 0
    ? null
    : known.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]), 0);
};

/**
 * The fields of /proc/<pid>/stat after the process' name, which may hold anything, brackets too.
 */
const statOf = (pid: number | string): readonly string[] =>
  read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ') ?? [];

const parentOf = (pid: string): number => Number(statOf(pid)[1] ?? 0);

/** The length of Linux' clock ticks, which are the same on every machine that Node runs on. */
const tick_ns = 10_000_000;

/** Nanoseconds that children which have ended had run. */
const endedChildren_ns = (pid: number): number => {
  const fields = statOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tick_ns;
};

/** Reads the CPU time of a group of processes, in microseconds; null when it cannot be known. */
type CpuClock = () => number | null;

/** The clock of a PostgreSQL server by its first process, and of all that it has started. */
const cpuOfPostmaster = (postmaster: number): CpuClock => {
  return () => {
    const children = foldersIn('/proc').filter(
      (name) => /^\d+$/.test(name) && parentOf(name) === postmaster,
    );
    const times = [postmaster, ...children.map(Number)].map((pid) => processCpu_ns(pid) ?? 0);
    const cpu_ns = times.reduce((sum, time) => sum + time, endedChildren_ns(postmaster));
    return cpu_ns === 0 ? null : cpu_ns / 1_000;
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

describe('a service on sharded tables', { concurrency: false }, () => {
  let plain: Side;
  let spread: Side;
  let load: Load;
  before(async () => {
    load = openLoad();
    const servers = [await startPlain(bin), await startCitus(bin)] as const;
    for (const { url } of servers) await migrateTemplate(url);
    await distribute(servers[1].url);
    plain = await openSide(servers[0]);
    spread = await openSide(servers[1]);
  });
  after(async () => {
    for (const side of [plain, spread]) await side?.service.stop();
    for (const side of [plain, spread]) await side?.servers.stop();
    await load[Symbol.asyncDispose]();
  });

  const perSecond = async ({ service, requests }: Side, duration_ms: number): Promise<number> => {
    const { answered, elapsed_ms } = await load.run({
      url: service.rest,
      requests,
      connections,
      duration_ms,
    });
    return (answered / elapsed_ms) * 1_000;
  };

  test('takes less than a tenth of a core while nothing happens', async () => {
    await sleep(settle_ms);
    const clocks = [plain, spread].map(({ servers }) => servers.pids.map(cpuOfPostmaster));
    const read = (): readonly number[] =>
      clocks.map((each) => each.reduce((sum, clock) => sum + (clock() ?? Number.NaN), 0));
    const began = [performance.now(), read()] as const;
    await sleep(idle_ms);
    const elapsed_us = (performance.now() - began[0]) * 1_000;
    const shares = read().map((cpu_us, index) => (cpu_us - (began[1][index] ?? 0)) / elapsed_us);
    const [ofPlain = Number.NaN, ofSpread = Number.NaN] = shares;
    process.stdout.write(
      `    idle, of one core: plain ${(ofPlain * 100).toFixed(1)} %, spread ${(ofSpread * 100).toFixed(1)} %\n`,
    );
    assert.ok(ofPlain > 0, 'the CPU time of the servers can be read');
    assert.ok(ofSpread < idleCore_max, `${ofSpread} of a core`);
  });

  test('creates payments at 0.6 of the rate of a plain one, or more', async () => {
    for (const side of [plain, spread]) await perSecond(side, warmUp_ms);
    const rates: Record<'plain' | 'spread', number[]> = { plain: [], spread: [] };
    for (let round = 0; round < rounds; round += 1) {
      rates.plain.push(await perSecond(plain, round_ms));
      rates.spread.push(await perSecond(spread, round_ms));
    }
    const ratio = median(rates.spread) / median(rates.plain);
    process.stdout.write(
      `    creates per second, ${connections} connections: plain ${median(rates.plain).toFixed(0)}, spread ${median(rates.spread).toFixed(0)}, ratio ${ratio.toFixed(2)}\n`,
    );
    assert.ok(ratio >= ratio_min, `${ratio} of plain PostgreSQL`);
  });
});
