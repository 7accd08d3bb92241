/**
 * Subscriptions that are due at the same moment, charged by the worker, against token charges made
 * one by one over REST; the same among few subscriptions and among very many; and what a look for
 * what is due costs when nothing is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { dueSubscriptions } from '../../../subgraphs/recurring/subscriptions/store-subscription.ts';
import { cpuOfProcess, type CpuClock } from '../cpu.ts';
import { requestText } from '../load.ts';
import type { Bench } from '../plan.ts';
import { saying } from '../progress.ts';
import type { Row } from '../report.ts';
import { withClocks } from '../subject.ts';
import {
  addToken,
  countCharged,
  fillSubscriptions,
  makeDue,
  startChargingWorker,
} from '../subscriptions-in-table.ts';
import type { Fixture } from '../fixture.ts';

/** Issue: charges by the schedule over charges one by one, at least. */
const ratio_min = 3;
/** Charges one by one: their pace does not depend on how many there are. */
const singles_max = 500;
const looks = 200;
const poll_ms = 100;
const patience_ms = 600_000;

/** Charges a second, and the CPU time of each, of everything that answers and of PostgreSQL. */
interface Pace {
  readonly perSecond: number;
  readonly each_us: readonly (number | null)[];
}

const cpuText = ({ each_us }: Pace): string =>
  each_us.map((cpu_us) => cpu_us?.toFixed(0) ?? '?').join(' + ');

/** Makes so many subscriptions due and waits until each is charged. */
const drain = async (pool: Pool, due: number, clocks: readonly CpuClock[]): Promise<Pace> => {
  await makeDue(pool, due);
  const { result, each_us } = await withClocks(clocks, async () => ({
    answered: due,
    perSecond: await untilCharged(pool, due),
  }));
  return { perSecond: result.perSecond, each_us };
};

const untilCharged = async (pool: Pool, due: number): Promise<number> => {
  const began_ms = performance.now();
  while (performance.now() < began_ms + patience_ms) {
    if ((await countCharged(pool)) >= due) return (due * 1_000) / (performance.now() - began_ms);
    await sleep(poll_ms);
  }
  throw new Error(`${due} subscriptions were not charged within ${patience_ms} ms`);
};

/** Charges a token over REST, each charge after the answer to the one before. */
const oneByOne = async (
  { merchant, service, postgres }: Fixture,
  token: string,
  charges: number,
  { load }: Bench,
): Promise<Pace> => {
  const requests = [
    requestText(
      'POST',
      `/v1/public/tokens/${token}/charge`,
      { authorization: `Bearer ${merchant.key}` },
      { amount: 10_000 },
    ),
  ];
  const plan = {
    url: service.url,
    requests,
    connections: 1,
    duration_ms: patience_ms,
    requests_max: charges,
  };
  const { result, each_us } = await withClocks([cpuOfProcess(service.pid), postgres], () =>
    load.run(plan),
  );
  return { perSecond: (result.answered * 1_000) / result.elapsed_ms, each_us };
};

/**
 * Microseconds that one look for what is due takes when nothing is: that of the least disturbed
 * tenth, once the plans are kept.
 */
const emptyLook_us = async (pool: Pool): Promise<number> => {
  const took: number[] = [];
  for (let look = 0; look < looks * 2; look += 1) {
    const began_ms = performance.now();
    await dueSubscriptions.due(pool, null, Temporal.Now.instant(), 200);
    if (look >= looks) took.push((performance.now() - began_ms) * 1_000);
  }
  return took.toSorted((one, other) => one - other)[Math.floor(looks / 10)] ?? Number.NaN;
};

interface Measured extends Pace {
  readonly look_us: number;
}

/** Measures among so many subscriptions, with a worker that is there for it alone. */
const among = async (
  fixture: Fixture,
  pool: Pool,
  token: string,
  rows: number,
  { plan, progress }: Bench,
): Promise<Measured> => {
  await using stack = new AsyncDisposableStack();
  await fillSubscriptions(pool, fixture, token, rows, (text) => progress(`recurring: ${text}`));
  const look_us = await emptyLook_us(pool);
  const clocks = [await startChargingWorker(fixture, stack), fixture.postgres];
  const charge = (due: number): Promise<Pace> =>
    saying(drain(pool, due, clocks), () =>
      progress(`recurring: charging ${due} of ${rows.toLocaleString('en')}`),
    );
  await charge(Math.ceil(plan.dueSubscriptions / 5));
  return { ...(await charge(plan.dueSubscriptions)), look_us };
};

/** The rows. */
export const recurringRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  const { plan, progress } = bench;
  const pool = new Pool({ connectionString: fixture.databaseUrl, max: 2 });
  try {
    const token = await addToken(pool, fixture);
    const due = plan.dueSubscriptions;
    const singles = Math.min(due, singles_max);
    await oneByOne(fixture, token, Math.ceil(singles / 5), bench);
    progress(`recurring: ${singles} charges one by one`);
    const single = await oneByOne(fixture, token, singles, bench);
    const [few, many] = [due * 2, plan.subscriptions];
    const amongFew = await among(fixture, pool, token, few, bench);
    const amongMany = await among(fixture, pool, token, many, bench);
    const [fewText, manyText] = [few.toLocaleString('en'), many.toLocaleString('en')];
    const speed = ({ perSecond }: Pace): string => `${perSecond.toFixed(0)}/s`;
    return [
      {
        what: `${due} due subscriptions charged`,
        against: 'token charges one by one over REST',
        ratio: amongFew.perSecond / single.perSecond,
        aim: { least: ratio_min },
        rounds: 1,
        figures: `${speed(amongFew)} to ${speed(single)}; CPU each ${cpuText(amongFew)} us to ${cpuText(single)} us`,
      },
      {
        what: `the same among ${manyText} subscriptions`,
        against: `among ${fewText}`,
        ratio: amongMany.perSecond / amongFew.perSecond,
        aim: { least: 0.8 },
        rounds: 1,
        figures: `${speed(amongMany)} to ${speed(amongFew)}`,
      },
      {
        what: `a look for what is due among ${manyText} when nothing is`,
        against: `among ${fewText}`,
        ratio: amongFew.look_us / amongMany.look_us,
        aim: { least: 0.5 },
        rounds: looks,
        figures: `${amongMany.look_us.toFixed(0)} us to ${amongFew.look_us.toFixed(0)} us`,
      },
    ];
  } finally {
    await pool.end();
  }
};
