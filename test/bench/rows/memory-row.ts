/**
 * Memory of the whole service in one process after many requests, beside that of the baseline after
 * the same ones.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { spawnProcess, stopProcess, untilReady } from '../../support/service.ts';
import { residentMemory_MiB } from '../cpu.ts';
import { createRequest, readRequest } from '../payment-requests.ts';
import { connections, type Bench } from '../plan.ts';
import type { Row } from '../report.ts';
import { busyMerchant, type Fixture } from '../fixture.ts';

/** How long a process may give back what it does not need. */
const settle_ms = 2_000;
const longest_ms = 120_000;

interface Loaded {
  readonly url: string;
  readonly pid: number;
  readonly requests: readonly string[];
}

/** Resident memory in MiB before, after a tenth of the requests and after all. */
const memoryUnder = async (
  { url, pid, requests }: Loaded,
  { load, plan }: Bench,
): Promise<readonly (number | null)[]> => {
  const send = (requests_max: number) =>
    load.run({ url, requests, connections, duration_ms: longest_ms, requests_max });
  const looks = [residentMemory_MiB(pid)];
  for (const share of [0.1, 0.9]) {
    await send(plan.memoryRequests * share);
    await sleep(settle_ms);
    looks.push(residentMemory_MiB(pid));
  }
  return looks;
};

const shown = (looks: readonly (number | null)[]): string =>
  looks.map((look) => look?.toFixed(0) ?? '?').join(', ');

/**
 * The row: half of the requests create, half read. The service does all its background work too, on
 * a PostgreSQL of its own.
 */
export const memoryRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-memory-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  bench.progress('memory: starting the whole service');
  const service = spawnProcess('all', await freePort(), {
    DATA_DIR: dataDir,
    NODE_ENV: 'production',
  });
  stack.defer(async () => void (await stopProcess(service)));
  await untilReady(service);
  const merchant = await busyMerchant(service);
  const [own, other] = await Promise.all(
    [merchant, fixture.merchant].map((of) => of.call('POST', '/payments', { amount: 100 })),
  );
  const requests = (key: string, id: string): readonly string[] => [
    createRequest(key),
    readRequest(key, id),
  ];
  bench.progress(`memory: ${bench.plan.memoryRequests} requests to each`);
  const whole = await memoryUnder(
    {
      url: service.url,
      pid: service.child.pid ?? 0,
      requests: requests(merchant.key, own?.body.payment.id),
    },
    bench,
  );
  const bare = await memoryUnder(
    { ...fixture.bare, requests: requests(fixture.merchant.key, other?.body.payment.id) },
    bench,
  );
  const [last, baseline] = [whole.at(-1) ?? null, bare.at(-1) ?? null];
  const figures = `MiB before, after ${bench.plan.memoryRequests / 10}, after all: ${shown(whole)} to ${shown(bare)}`;
  const ratio = last === null || baseline === null ? null : baseline / last;
  return [
    {
      what: `memory after ${bench.plan.memoryRequests} requests`,
      against: 'bare fastify, same SQL',
      ratio,
      aim: null,
      rounds: 1,
      figures,
    },
  ];
};
