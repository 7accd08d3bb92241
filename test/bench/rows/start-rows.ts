/**
 * Time from `npm start` until it is ready, on no data (cold) and on its own (warm), beside that of
 * the embedded PostgreSQL alone.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import type { Bench } from '../plan.ts';
import { limitRow, type Row } from '../report.ts';
import { median } from '../rounds.ts';

const root = join(import.meta.dirname, '../../..');
const patience_ms = 60_000;
const look_ms = 10;

type Start = (
  dataDir: string,
) => Promise<{ readonly child: ChildProcess; readonly ready: Promise<unknown> }>;

const isReady = async (url: string): Promise<boolean> => {
  const answer = await fetch(url).catch(() => null);
  await answer?.arrayBuffer();
  return answer?.ok ?? false;
};

const startService: Start = async (dataDir) => {
  const port = await freePort();
  const env = { ...process.env, DATA_DIR: dataDir, PORT: `${port}`, LOG_LEVEL: 'warn' };
  const child = spawn('npm', ['start'], { cwd: root, env, stdio: 'ignore' });
  const ready = async (): Promise<void> => {
    const deadline = performance.now() + patience_ms;
    while (!(await isReady(`http://127.0.0.1:${port}/readyz`))) {
      if (performance.now() > deadline || child.exitCode !== null)
        throw new Error('npm start did not come to be ready');
      await sleep(look_ms);
    }
  };
  return { child, ready: ready() };
};

const startPostgres: Start = async (dataDir) => {
  const child = fork(join(import.meta.dirname, '../servers', 'postgres-alone.ts'), {
    env: { ...process.env, DATA_DIR: dataDir },
  });
  return { child, ready: once(child, 'message') };
};

/** Milliseconds from the start until it is ready; it is ended then. */
const timeStart = async (start: Start, dataDir: string): Promise<number> => {
  const began_ms = performance.now();
  const { child, ready } = await start(dataDir);
  const ended = once(child, 'exit');
  try {
    await ready;
    return performance.now() - began_ms;
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
};

const kinds = ['cold', 'warm'] as const;
const limits_s = { cold: 25, warm: 1.5 };

/** Starts each once on no data and once more on what the first has left. */
const timeRound = async (starts: readonly Start[]): Promise<readonly (readonly number[])[]> => {
  const times: number[][] = [];
  for (const start of starts) {
    const dataDir = mkdtempSync(join(tmpdir(), 'payments-start-'));
    try {
      times.push([await timeStart(start, dataDir), await timeStart(start, dataDir)]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  return times;
};

/** The rows. Packages are installed already: how long npm takes to install is not ours. */
export const startRows = async ({ plan, progress }: Bench): Promise<readonly Row[]> => {
  const rounds: (readonly (readonly number[])[])[] = [];
  for (let round = 0; round < plan.starts; round += 1) {
    progress(`start: round ${round + 1} of ${plan.starts}`);
    const times = await timeRound(
      round % 2 === 0 ? [startService, startPostgres] : [startPostgres, startService],
    );
    rounds.push(round % 2 === 0 ? times : times.toReversed());
  }
  const timesOf = (index: number, starter: number): readonly number[] =>
    rounds.map((round) => round[starter]?.[index] ?? Number.NaN);
  const limits = kinds.map((kind, index) =>
    limitRow({
      what: `npm start to ready, ${kind}`,
      measured: median(timesOf(index, 0)) / 1_000,
      most: limits_s[kind],
      unit: 's',
    }),
  );
  const ratios = kinds.map((kind, index) => {
    const times = (starter: number): readonly number[] => timesOf(index, starter);
    const [service, postgres] = [times(0), times(1)];
    const ratio = median(service.map((time, round) => (postgres[round] ?? Number.NaN) / time));
    const figures = `${median(service).toFixed(0)} ms to ${median(postgres).toFixed(0)} ms`;
    return {
      what: `npm start to ready, ${kind}`,
      against: 'embedded PostgreSQL alone',
      ratio,
      aim: null,
      rounds: plan.starts,
      figures,
    };
  });
  return [...limits, ...ratios];
};
