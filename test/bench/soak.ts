/**
 * The service under everything at once for as long as `--minutes=` says, at a steady rate that the
 * machine can do: payments and payouts are created, payments, lists, ledger and balance read, whole
 * payments made. Whether rate, waiting time and memory stay what they were at its beginning.
 */
import { askGraph } from '../support/merchant.ts';
import { residentMemory_MiB } from '../support/resident-memory.ts';
import { openBuyers } from './payments.ts';
import { inMilliseconds, median, type Row } from './rounds.ts';
import { createPayment, createRequest, restRequest, type Bench } from './sides.ts';

/** Tenths of the time. The first is left out: programs are compiled as they run. */
const tenths = 10;
const soakConnections = 8;
/** Of what the machine can do at the beginning. */
const share = 0.4;
const funds = 1_000_000_000_000;

const rounded = (value: number): string => value.toFixed(0);

interface Look {
  readonly perSecond: number;
  readonly p50_us: number;
  readonly memory_MiB: number;
}

const requestsOf = async ({ service }: Bench): Promise<readonly string[]> => {
  const { key, merchantId, shopId, url } = service;
  const mutation = `mutation ($m: ID!, $s: ID!, $a: SignedMinorUnits!) { adjustmentRecord(merchantId: $m, shopId: $s, mode: test, amount: $a,
    reason: "bench", reference: "bench") { __typename ... on Refused { message } } }`;
  const variables = { m: merchantId, s: shopId, a: funds };
  const { adjustmentRecord } = await askGraph({ graph: url }, mutation, variables);
  if (adjustmentRecord.__typename === 'Refused') throw new Error(adjustmentRecord.message);
  const { payment } = await createPayment(service);
  const payout = {
    amount: 10_000,
    phone: '+79161234567',
    bank_id: '100000000111',
    full_name: 'Ivan Petrov',
  };
  const get = (path: string): string => restRequest(key, 'GET', path);
  return [
    createRequest(key),
    get(`/payments/${payment.id}`),
    restRequest(key, 'POST', '/payouts', payout),
    get('/payments?limit=50'),
    get('/payouts?limit=50'),
    get('/ledger?limit=50'),
    get('/balance'),
  ];
};

/** Sends everything for the whole time, and looks after each tenth. */
const soak = async (bench: Bench, total_ms: number): Promise<readonly Look[]> => {
  const { service, load, progress } = bench;
  const { url } = service;
  const requests = await requestsOf(bench);
  const each_ms = total_ms / tenths;
  const plan = { url, requests, connections: soakConnections, duration_ms: each_ms };
  const { answered, elapsed_ms } = await load.run(plan);
  const perSecond_max = Math.max(soakConnections, (share * answered * 1_000) / elapsed_ms);
  progress(`soak: ${perSecond_max.toFixed(0)} requests a second from now on`);
  await using stack = new AsyncDisposableStack();
  const buy = openBuyers(bench, service, stack);
  const stopping = new AbortController();
  const buying = (async () => {
    while (!stopping.signal.aborted) await buy();
  })();
  const looks: Look[] = [];
  for (let tenth = 1; tenth <= tenths; tenth += 1) {
    const result = await load.run({ ...plan, perSecond_max });
    const perSecond = (result.answered * 1_000) / result.elapsed_ms;
    const memory_MiB = residentMemory_MiB(service.pid) ?? Number.NaN;
    looks.push({ perSecond, p50_us: result.p50_us, memory_MiB });
    progress(
      `soak: ${tenth} of ${tenths}: ${perSecond.toFixed(0)}/s, half within ${inMilliseconds(result.p50_us)}, ${memory_MiB.toFixed(0)} MiB`,
    );
  }
  stopping.abort();
  await buying;
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
      row('requests a second', ({ perSecond }) => perSecond, false, rounded),
      row('waiting, half', ({ p50_us }) => p50_us, true, inMilliseconds),
      row('MiB of memory', ({ memory_MiB }) => memory_MiB, true, rounded),
    ];
  };
