/**
 * Whole payments as a subject of rounds: what a merchant's server, a buyer's browser and the
 * merchant's receiver do for each.
 */
import { randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import type { Merchant } from '../support/merchant.ts';
import type { CpuClock } from './cpu.ts';
import { connections } from './plan.ts';
import { median, type RoundLoad, type Sample, type Subject } from './rounds.ts';
import { withClocks } from './subject.ts';
import { openReceiver } from './webhook-receiver.ts';

/** A webhook that does not come. */
const patience_ms = 30_000;

interface Created {
  readonly payment: { readonly id: string };
  readonly payment_url: string;
}

interface Delivered {
  readonly data: { readonly id: string };
}

/** One payment, from its creation until its webhook has come. */
type LivePayment = () => Promise<void>;

/**
 * Opens the merchant's receiver and the buyers' connections; `stack` closes them. Payments are
 * created with an idempotency key each where they are `keyed`.
 */
export const openBuyers = async (
  origin: string,
  merchant: Merchant,
  stack: AsyncDisposableStack,
  keyed = false,
): Promise<LivePayment> => {
  const awaited = new Map<string, () => void>();
  const receive = (body: string): void => {
    const { data } = JSON.parse(body) as Delivered;
    awaited.get(data.id)?.();
  };
  await merchant.endpoint(await openReceiver(receive, stack));
  const agent = new Agent({ connections, pipelining: 1 });
  stack.defer(() => agent.close());
  const post = async (
    path: string,
    contentType: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<string> => {
    const sent = { 'content-type': contentType, ...headers };
    const answer = await agent.request({ origin, path, method: 'POST', headers: sent, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 400) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const payment = JSON.stringify({ amount: 10_000, method: 'sbp' });
  const authorization = `Bearer ${merchant.key}`;
  const jsonType = 'application/json';
  const formType = 'application/x-www-form-urlencoded';
  return async () => {
    const created = JSON.parse(
      await post('/v1/public/payments', jsonType, payment, {
        authorization,
        ...(keyed ? { 'idempotency-key': randomUUID() } : {}),
      }),
    ) as Created;
    const { id } = created.payment;
    const notified = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('a webhook did not come')), patience_ms);
      awaited.set(id, () => (clearTimeout(late), resolve()));
    });
    const page = new URL(created.payment_url).pathname;
    await post(`${page}/pay`, jsonType, '{}', { origin });
    await post(`${page}/bank`, formType, 'answer=approve', { origin });
    await notified;
    awaited.delete(id);
  };
};

/** Has so many buyers pay one payment after another; gives how long each took. */
export const payAtOnce = async (
  live: LivePayment,
  { connections: buyers, duration_ms, requests_max = Infinity }: RoundLoad,
): Promise<readonly number[]> => {
  const latencies_us: number[] = [];
  const began_ms = performance.now();
  let begun = 0;
  const buy = async (): Promise<void> => {
    while (begun < requests_max && performance.now() - began_ms < duration_ms) {
      begun += 1;
      const sent_ms = performance.now();
      await live();
      latencies_us.push((performance.now() - sent_ms) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: buyers }, buy));
  return latencies_us;
};

/** The subject; `clocks` are those of the service and of PostgreSQL. */
export const wholePayments = (
  live: LivePayment,
  clocks: readonly [service: CpuClock, postgres: CpuClock],
): Subject => ({
  name: 'whole payments',
  measure: async (load): Promise<Sample> => {
    let latencies_us: readonly number[] = [];
    const { result, each_us } = await withClocks([...clocks], async () => {
      const began_ms = performance.now();
      latencies_us = await payAtOnce(live, load);
      return { answered: latencies_us.length, elapsed_ms: performance.now() - began_ms };
    });
    return {
      perSecond: (result.answered * 1_000) / result.elapsed_ms,
      p50_us: median(latencies_us),
      server_us: each_us[0] ?? null,
      postgres_us: each_us[1] ?? null,
    };
  },
});
