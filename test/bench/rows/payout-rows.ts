/**
 * Payouts created per second against pgbench doing the same statements in the same transaction, for
 * one merchant, whose payouts stand in line at its row, and for a hundred; and a batch of 1,000
 * against 1,000 single calls.
 */
import pg from 'pg';
import { foldBalances } from '../../../subgraphs/kernel/ledger/fold.ts';
import { askGraph, type Merchant } from '../../support/merchant.ts';
import { requestText } from '../load.ts';
import { payoutBody, payoutScript } from '../payout-script.ts';
import { hasPgbench, scriptsSubject } from '../pgbench.ts';
import { connections, measureBoth, type Bench } from '../plan.ts';
import { comparisonRows, type Row } from '../report.ts';
import { measureInRounds, medianOf, medianRatio, type Sample, type Subject } from '../rounds.ts';
import { serverSubject, withClocks } from '../subject.ts';
import { busyMerchant, type Fixture } from '../fixture.ts';

const batch_items = 1_000;
/** No test pays out more than this. */
const funds = 1_000_000_000_000;

const headers = (key: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${key}`,
  accept: '*/*',
  'user-agent': 'bench',
});

/** Gives a merchant of a service money to pay out. */
export const fund = async (url: string, merchant: Merchant): Promise<Merchant> => {
  const mutation = `mutation ($m: ID!, $s: ID!, $a: SignedMinorUnits!) { adjustmentRecord(merchantId: $m, shopId: $s, mode: test, amount: $a,
    reason: "bench", reference: "bench") { __typename ... on Refused { message } } }`;
  const { adjustmentRecord } = await askGraph({ graph: url }, mutation, {
    m: merchant.id,
    s: merchant.shopId,
    a: funds,
  });
  if (adjustmentRecord.__typename === 'Refused') throw new Error(adjustmentRecord.message);
  return merchant;
};

/**
 * The worker's fold, which this fixture lacks: without it every payout would read the deltas of all
 * before it.
 */
const keepFolding = (pool: pg.Pool): (() => Promise<void>) => {
  const stopping = new AbortController();
  const folding = (async () => {
    while (!stopping.signal.aborted)
      if ((await foldBalances(pool)) === 0)
        await new Promise((resolve) => setTimeout(resolve, 250));
  })();
  return async () => {
    stopping.abort();
    await folding;
  };
};

const createRowsOf = async (
  what: string,
  merchants: readonly Merchant[],
  { service, databaseUrl, directory, postgres }: Fixture,
  bench: Bench,
): Promise<readonly Row[]> => {
  const requests = merchants.map(({ key }) =>
    requestText('POST', '/v1/public/payouts', headers(key), payoutBody),
  );
  const route = serverSubject({ name: 'REST route', ...service, requests, postgres }, bench.load);
  if (!hasPgbench())
    return [
      {
        what,
        against: 'pgbench, same SQL',
        ratio: null,
        aim: null,
        rounds: 0,
        figures: 'skipped: there is no pgbench in PATH',
      },
    ];
  const texts = await Promise.all(
    merchants.map(({ id: merchantId, shopId }) => payoutScript({ merchantId, shopId })),
  );
  const baseline = scriptsSubject(
    { texts, variables: [], name: `payout-of-${merchants.length}` },
    databaseUrl,
    directory,
    postgres,
  );
  const { many: busy, one } = await measureBoth([baseline, route], bench, what);
  return comparisonRows(
    { what, subject: route, baseline, aim: { least: 0.5 } },
    busy,
    one,
    connections,
  );
};

/** A batch as a subject: its payouts per second. */
const batchSubject = ({ service, postgres }: Fixture, { key }: Merchant): Subject => ({
  name: 'batch of 1,000',
  measure: async (): Promise<Sample> => {
    const items = Array.from({ length: batch_items }, () => payoutBody);
    const began_ms = performance.now();
    const { result, each_us } = await withClocks([postgres], async () => {
      const response = await fetch(`${service.url}/v1/public/payouts/batch`, {
        method: 'POST',
        headers: { ...headers(key), 'content-type': 'application/json' },
        body: JSON.stringify({ method: 'payouts_sbp', items }),
      });
      const { created } = (await response.json()) as { created: number };
      if (created !== batch_items) throw new Error(`${created} of a batch were created`);
      return { answered: created };
    });
    const elapsed_ms = performance.now() - began_ms;
    const perItem_us = (elapsed_ms * 1_000) / result.answered;
    return {
      perSecond: (result.answered * 1_000) / elapsed_ms,
      p50_us: perItem_us,
      server_us: null,
      postgres_us: each_us[0] ?? null,
    };
  },
});

const batchRows = async (
  fixture: Fixture,
  merchant: Merchant,
  { plan, load, progress }: Bench,
): Promise<readonly Row[]> => {
  const { service, postgres } = fixture;
  const requests = [requestText('POST', '/v1/public/payouts', headers(merchant.key), payoutBody)];
  const single = serverSubject(
    { name: '1,000 single calls', ...service, requests, postgres },
    load,
  );
  const batch = batchSubject(fixture, merchant);
  const rows: Row[] = [];
  for (const atOnce of [1, connections]) {
    const limited: Subject = {
      name: single.name,
      measure: (round) =>
        single.measure({ ...round, duration_ms: 60_000, requests_max: batch_items }),
    };
    const rounds = Math.min(plan.many.rounds, 5);
    const samples = await measureInRounds(
      [limited, batch],
      { connections: atOnce, duration_ms: 0, rounds, warmUp: null },
      (text) => progress(`batch: ${text}`),
    );
    const [singles = [], batches = []] = [samples.get(limited), samples.get(batch)];
    const perSecond = (sample: Sample): number => sample.perSecond;
    rows.push({
      what: 'a batch of 1,000 payouts',
      against: `1,000 single calls, ${atOnce === 1 ? 'one after the other' : `${atOnce} at once`}`,
      ratio: medianRatio(batches, singles, perSecond),
      aim: { least: 8 },
      rounds,
      figures: `${medianOf(batches, perSecond)?.toFixed(0)} to ${medianOf(singles, perSecond)?.toFixed(0)} payouts/s`,
    });
  }
  return rows;
};

/** All rows about payouts. */
export const payoutRows = async (fixture: Fixture, bench: Bench): Promise<readonly Row[]> => {
  const { service, databaseUrl, merchant } = fixture;
  const many = bench.plan.merchants;
  bench.progress(`payouts: making ${many} merchants`);
  const merchants: Merchant[] = [await fund(service.url, merchant)];
  while (merchants.length < many)
    merchants.push(await fund(service.url, await busyMerchant(service)));
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const stopFolding = keepFolding(pool);
  try {
    return [
      ...(await createRowsOf('payouts of one merchant', merchants.slice(0, 1), fixture, bench)),
      ...(await createRowsOf(`payouts of ${many} merchants`, merchants, fixture, bench)),
      ...(await batchRows(fixture, merchant, bench)),
    ];
  } finally {
    await stopFolding();
    await pool.end();
  }
};
