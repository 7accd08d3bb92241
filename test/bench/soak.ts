/**
 * Fifty whole payments a second, each with its webhook, for as long as `--minutes=` says: whether
 * their number, the time that a buyer waits and the memory stay what they were at the beginning.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory_MiB } from '../support/resident-memory.ts';
import { openBuyers } from './payments.ts';
import { inMilliseconds, median, type Row } from './rounds.ts';
import type { Bench } from './sides.ts';

/** Tenths of the time. The first is left out: programs are compiled as they run. */
const tenths = 10;
const paymentsPerSecond = 50;
/** A machine that does not keep pace makes as many payments as it can, and no queue grows. */
const buyersAtOnce_max = 64;

const rounded = (value: number): string => value.toFixed(0);

interface Look {
  readonly perSecond: number;
  readonly p50_us: number;
  readonly memory_MiB: number;
}

/** Makes payments evenly for a while; gives how long each took. */
const payEvenly = async (
  buy: () => Promise<void>,
  duration_ms: number,
): Promise<readonly number[]> => {
  const latencies_us: number[] = [];
  const began_ms = performance.now();
  let next = 0;
  const pay = async (): Promise<void> => {
    for (;;) {
      const due_ms = (next * 1_000) / paymentsPerSecond;
      next += 1;
      if (Math.max(due_ms, performance.now() - began_ms) >= duration_ms) return;
      await sleep(Math.max(0, began_ms + due_ms - performance.now()));
      const sent_ms = performance.now();
      await buy();
      latencies_us.push((performance.now() - sent_ms) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: buyersAtOnce_max }, pay));
  return latencies_us;
};

const soak = async (bench: Bench, total_ms: number): Promise<readonly Look[]> => {
  const { service, progress } = bench;
  await using stack = new AsyncDisposableStack();
  const buy = openBuyers(bench, service, stack);
  const looks: Look[] = [];
  for (let tenth = 1; tenth <= tenths; tenth += 1) {
    const latencies_us = await payEvenly(buy, total_ms / tenths);
    const perSecond = (latencies_us.length * 1_000 * tenths) / total_ms;
    const memory_MiB = residentMemory_MiB(service.pid) ?? Number.NaN;
    const p50_us = median(latencies_us);
    looks.push({ perSecond, p50_us, memory_MiB });
    progress(
      `soak: ${tenth} of ${tenths}: ${perSecond.toFixed(0)}/s, half within ${inMilliseconds(p50_us)}, ${memory_MiB.toFixed(0)} MiB`,
    );
  }
  return looks;
};

export const soakRows =
  (given: number | null) =>
  async (bench: Bench): Promise<readonly Row[]> => {
    const minutes = given ?? (bench.quick ? 0.2 : 5);
    const looks = await soak(bench, minutes * 60_000);
    const row = (
      what: string,
      figure: (look: Look) => number,
      isCost: boolean,
      write: (value: number) => string,
    ): Row => {
      const early = median(looks.slice(1, 4).map(figure));
      const late = median(looks.slice(7, 10).map(figure));
      return {
        what: `soak of ${minutes.toFixed(1)} min, its end to its beginning: ${what}`,
        ratio: isCost ? early / late : late / early,
        service: `${write(early)} to ${write(late)}`,
        bare: '',
      };
    };
    return [
      row('whole payments a second', ({ perSecond }) => perSecond, false, rounded),
      row('waiting, half', ({ p50_us }) => p50_us, true, inMilliseconds),
      row('MiB of memory', ({ memory_MiB }) => memory_MiB, true, rounded),
    ];
  };
