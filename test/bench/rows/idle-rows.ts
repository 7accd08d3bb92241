/**
 * What the service takes while nobody calls it: memory of one process with every role and of each
 * role of a fleet, and CPU time of one process with its PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { findOutsidePrograms } from '../../support/outside-programs.ts';
import {
  spawnProcess,
  startService,
  stopProcess,
  untilReady,
  type ServiceProcess,
} from '../../support/service.ts';
import { cpuOfPostgres, cpuOfProcess, residentMemory_MiB } from '../cpu.ts';
import type { Bench } from '../plan.ts';
import { limitRow, type Row } from '../report.ts';

const memory_max_MiB = 200;
/** Percent of one core. */
const cpu_max = 2;

/** Percent of a core that both together take from now on, for so long; null where unknown. */
const cpuFor = async (
  pid: number,
  dataDir: string,
  duration_ms: number,
): Promise<readonly [service: number, postgres: number] | null> => {
  const clocks = [cpuOfProcess(pid), cpuOfPostgres(dataDir)] as const;
  const before = clocks.map((clock) => clock());
  const began_ms = performance.now();
  await sleep(duration_ms);
  const took_us = (performance.now() - began_ms) * 1_000;
  const [service, postgres] = clocks.map((clock, index) => {
    const [from, to] = [before[index], clock()];
    return typeof from === 'number' && to !== null ? ((to - from) / took_us) * 100 : null;
  });
  return typeof service === 'number' && typeof postgres === 'number' ? [service, postgres] : null;
};

const memoryRow = (role: string, pid: number | undefined): Row => {
  const measured = residentMemory_MiB(pid ?? 0);
  return limitRow({ what: `memory at rest: ${role}`, measured, most: memory_max_MiB, unit: 'MiB' });
};

const startWhole = async (dataDir: string): Promise<ServiceProcess> => {
  const service = spawnProcess('all', await freePort(), {
    DATA_DIR: dataDir,
    NODE_ENV: 'production',
    MALLOC_ARENA_MAX: '2',
  });
  await untilReady(service);
  return service;
};

/**
 * One process with every role, on a PostgreSQL of its own; on data that it finds, for a new
 * database is analysed for minutes.
 */
export const idleRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-idle-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const rest_ms = plan.restSeconds * 1_000;
  progress('idle: making a database');
  const first = await startWhole(dataDir);
  await sleep(rest_ms);
  await stopProcess(first);
  progress(`idle: at rest for twice ${plan.restSeconds} s`);
  const service = await startWhole(dataDir);
  stack.defer(async () => void (await stopProcess(service)));
  await sleep(rest_ms);
  const { pid = 0 } = service.child;
  const cpu = await cpuFor(pid, dataDir, rest_ms);
  const shares = cpu ? `service ${cpu[0].toFixed(2)}, PostgreSQL ${cpu[1].toFixed(2)}; ` : '';
  const measured = cpu && cpu[0] + cpu[1];
  const row = limitRow({ what: 'CPU at rest', measured, most: cpu_max, unit: '% of a core' });
  return [{ ...row, figures: `${shares}${row.figures}` }, memoryRow('every role', pid)];
};

/** Each role in a process of its own, on PostgreSQL and Redis. */
export const idleFleetRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  findOutsidePrograms(false);
  progress('idle: starting a process for each role');
  const service = await startService('separate', { NODE_ENV: 'production', MALLOC_ARENA_MAX: '2' });
  stack.defer(() => service.stop());
  progress(`idle: at rest for twice ${plan.restSeconds} s`);
  await sleep(2 * plan.restSeconds * 1_000);
  return service.processes.map(({ name, child }) => memoryRow(name, child.pid));
};
