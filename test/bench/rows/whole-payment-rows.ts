/**
 * Whole payments on the service in one process: created over REST, paid on the page, confirmed at
 * the simulated bank, booked, and notified to the merchant's receiver. Against payments that are
 * only created, in the same rounds.
 */
import { Agent } from 'undici';
import { startService } from '../../support/service.ts';
import { busyMerchant } from '../fixture.ts';
import { createRequest } from '../payment-requests.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { median, medianOf, type Sample, type Samples, type Subject } from '../rounds.ts';
import { serverSubject, withClocks } from '../subject.ts';
import { cpuOfProcess } from '../cpu.ts';
import { openReceiver } from '../webhook-receiver.ts';

/** The aims: over payments that are only created, at least; how soon half are delivered. */
const ratio_min = 0.4;
const half_ms = { one: 8, many: 40 } as const;
/** A webhook that does not come. */
const patience_ms = 30_000;

interface Created {
  readonly payment: { readonly id: string };
  readonly payment_url: string;
}

/** What a merchant's server, a buyer's browser and the merchant's receiver do for one payment. */
const openBuyer = async (
  origin: string,
  key: string,
  delivered: Map<string, () => void>,
  stack: AsyncDisposableStack,
) => {
  const agent = new Agent({ connections, pipelining: 1 });
  stack.defer(() => agent.close());
  const post = async (
    path: string,
    contentType: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<string> => {
    const answer = await agent.request({
      origin,
      path,
      method: 'POST',
      headers: { 'content-type': contentType, ...headers },
      body,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 400) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const payment = JSON.stringify({ amount: 10_000, method: 'sbp' });
  return async (): Promise<void> => {
    const created = JSON.parse(
      await post('/v1/public/payments', 'application/json', payment, {
        authorization: `Bearer ${key}`,
      }),
    ) as Created;
    const notified = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('a webhook did not come')), patience_ms);
      delivered.set(created.payment.id, () => (clearTimeout(late), resolve()));
    });
    const page = new URL(created.payment_url).pathname;
    await post(`${page}/pay`, 'application/json', '{}', { origin });
    await post(`${page}/bank`, 'application/x-www-form-urlencoded', 'answer=approve', { origin });
    await notified;
    delivered.delete(created.payment.id);
  };
};

const subjectOf = (pid: number, live: () => Promise<void>): Subject => ({
  name: 'whole payments',
  measure: async ({ connections: buyers, duration_ms, requests_max = Infinity }) => {
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
    const { result, each_us } = await withClocks([cpuOfProcess(pid)], async () => {
      await Promise.all(Array.from({ length: buyers }, buy));
      return { answered: latencies_us.length, elapsed_ms: performance.now() - began_ms };
    });
    return {
      perSecond: (result.answered * 1_000) / result.elapsed_ms,
      p50_us: median(latencies_us),
      server_us: each_us[0] ?? null,
      postgres_us: null,
    };
  },
});

const half = (samples: readonly Sample[] | undefined, aim_ms: number, buyers: number): Row => {
  const p50_us = medianOf(samples ?? [], (sample) => sample.p50_us);
  return {
    what: `whole payment, ${buyers} ${buyers === 1 ? 'buyer' : 'buyers'}: how soon half are delivered`,
    against: `${aim_ms} ms`,
    ratio: p50_us === null ? null : (aim_ms * 1_000) / p50_us,
    aim: { least: 1 },
    rounds: samples?.length ?? 0,
    figures: p50_us === null ? 'unknown' : `half within ${(p50_us / 1_000).toFixed(1)} ms`,
  };
};

/** The rows. */
export const wholePaymentRows = async (bench: Bench): Promise<readonly Row[]> => {
  await using stack = new AsyncDisposableStack();
  const service = await startService('one', { NODE_ENV: 'production' });
  stack.defer(() => service.stop());
  const url = service.rest;
  const pid = service.processes[0]?.child.pid ?? 0;
  const merchant = await busyMerchant({ url });
  const delivered = new Map<string, () => void>();
  const receive = (body: string): void =>
    delivered.get((JSON.parse(body) as { readonly data: { readonly id: string } }).data.id)?.();
  await merchant.endpoint(await openReceiver(receive, stack));
  const live = await openBuyer(url, merchant.key, delivered, stack);
  const requests = [createRequest(merchant.key)];
  const creates = serverSubject(
    { name: 'payments created', url, pid, requests, postgres: null },
    bench.load,
  );
  const whole = subjectOf(pid, live);
  const { many, one }: { many: Samples; one: Samples } = await measureBoth(
    [whole, creates],
    bench,
    'whole payment',
  );
  return [
    ...comparisonRows(
      { what: 'whole payment', subject: whole, baseline: creates, aim: { least: ratio_min } },
      many,
      one,
      connections,
    ),
    half(one.get(whole), half_ms.one, 1),
    half(many.get(whole), half_ms.many, connections),
  ];
};
