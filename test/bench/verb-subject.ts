/** A verb, called in this process, as a subject of rounds. */
import { median, type Subject } from './rounds.ts';
import { withClocks } from './subject.ts';
import type { Fixture } from './fixture.ts';

const own = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** So many calls at a time, each over the next of what the verb is about, in turn. */
export const verbSubject = <Of extends object>(
  name: string,
  { postgres }: Fixture,
  over: readonly Of[],
  verb: (of: Of) => Promise<unknown>,
): Subject => ({
  name,
  measure: async ({ connections: lanes, duration_ms, requests_max = Number.MAX_SAFE_INTEGER }) => {
    const latencies_us: number[] = [];
    const began_ms = performance.now();
    let sent = 0;
    const run = async (): Promise<void> => {
      while (sent < requests_max && performance.now() - began_ms < duration_ms) {
        const of = over[sent++ % over.length];
        const sent_ms = performance.now();
        if (of) await verb(of);
        latencies_us.push((performance.now() - sent_ms) * 1_000);
      }
    };
    const { result, each_us } = await withClocks([own, postgres], async () => {
      await Promise.all(Array.from({ length: lanes }, run));
      return {
        answered: latencies_us.length,
        elapsed_ms: performance.now() - began_ms,
        p50_us: median(latencies_us),
      };
    });
    const [server_us = null, postgres_us = null] = each_us;
    return {
      perSecond: (result.answered * 1_000) / result.elapsed_ms,
      p50_us: result.p50_us,
      server_us,
      postgres_us,
    };
  },
});
