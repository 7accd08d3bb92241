/**
 * The ledger as a file: one million rows over REST against PostgreSQL's own COPY of the same rows,
 * and the memory that the service needs for it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Pool } from 'pg';
import { residentMemory_MiB } from '../cpu.ts';
import { fillPayments } from '../many-payments.ts';
import type { Bench } from '../plan.ts';
import type { Row } from '../report.ts';
import { median } from '../rounds.ts';
import type { Fixture } from '../fixture.ts';

/** Issue: extra memory below this. */
const memoryMost_MiB = 100;
const look_ms = 20;

const copyOf = ({ merchant }: Fixture): string =>
  `copy (select id, type, case when to_account = 'merchant' then amount else -amount end as amount, currency, description, payment_id, payout_id, created_at
    from posting where merchant_id = '${merchant.id}' and shop_id = '${merchant.shopId}' and mode = 'test' order by created_at desc, id desc)
    to stdout with (format csv, header)`;

/** Milliseconds that psql takes for COPY, which is written to nowhere. */
const timeCopy = async (fixture: Fixture): Promise<number> => {
  const began_ms = performance.now();
  const psql = spawn('psql', ['-q', fixture.databaseUrl, '-c', copyOf(fixture)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(psql, 'exit');
  if (code !== 0) throw new Error(`psql ended with ${String(code)}`);
  return performance.now() - began_ms;
};

interface Download {
  readonly took_ms: number;
  readonly bytes: number;
  readonly most_MiB: number | null;
}

/** Reads the whole file, and looks at the service's memory meanwhile. */
const download = async ({ merchant, service }: Fixture): Promise<Download> => {
  let most_MiB: number | null = null;
  const looking = setInterval(() => {
    const now_MiB = residentMemory_MiB(service.pid);
    if (now_MiB !== null && now_MiB > (most_MiB ?? 0)) most_MiB = now_MiB;
  }, look_ms);
  const began_ms = performance.now();
  const request = get(`${service.url}/v1/public/ledger?format=csv`, {
    headers: { authorization: `Bearer ${merchant.key}` },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await once(response, 'end');
  clearInterval(looking);
  return { took_ms: performance.now() - began_ms, bytes, most_MiB };
};

/**
 * Bytes of the lines of so many rows: everything in them but amounts has one length, and the
 * bench's amounts have few.
 */
const bytes_min = (rows: number): number => rows * 120;

/** Fills the ledger of the fixture's merchant until it has so many rows. */
const fillLedger = async (
  fixture: Fixture,
  rows: number,
  progress: (text: string) => void,
): Promise<number> => {
  const pool = new Pool({ connectionString: fixture.databaseUrl, max: 1 });
  try {
    await pool.query('truncate payment, posting');
    // Nineteen of twenty payments have two rows each.
    await fillPayments(
      pool,
      { merchantId: fixture.merchant.id, shopId: fixture.merchant.shopId },
      'test',
      Math.ceil(rows / 1.89),
      progress,
    );
    const { rows: counted } = await pool.query<{ count: number }>(
      'select count(*)::int as count from posting',
    );
    return counted[0]?.count ?? 0;
  } finally {
    await pool.end();
  }
};

/** The rows: speed against COPY, and memory. */
export const csvRows = async (
  fixture: Fixture,
  { plan, progress }: Bench,
): Promise<readonly Row[]> => {
  const answered = `ledger of ${plan.csvRows.toLocaleString('en')} rows as CSV`;
  const what = `${answered}, speed`;
  const aim = { least: 0.5 };
  if (spawnSync('psql', ['--version']).status !== 0) {
    return [
      {
        what,
        against: 'COPY to stdout',
        ratio: null,
        aim,
        rounds: 0,
        figures: 'skipped: there is no psql in PATH',
      },
    ];
  }
  const rows = await fillLedger(fixture, plan.csvRows, (text) => progress(`csv: ${text}`));
  const copies: number[] = [];
  const before_MiB = residentMemory_MiB(fixture.service.pid);
  const downloads = [await download(fixture)];
  for (let round = 0; round < plan.csvRounds; round += 1) {
    progress(`csv: round ${round + 1} of ${plan.csvRounds}`);
    copies.push(await timeCopy(fixture));
    downloads.push(await download(fixture));
  }
  if (downloads.some(({ bytes }) => bytes < bytes_min(rows)))
    throw new Error('a file was not whole');
  const times = downloads.slice(1).map(({ took_ms }) => took_ms);
  const ratios = copies.map((copy_ms, round) => copy_ms / (times[round] ?? Number.NaN));
  const speed = (times: readonly number[]): string =>
    `${(Math.round(rows / median(times)) * 1_000).toLocaleString('en')} rows/s`;
  const looks = downloads.map(({ most_MiB }) => most_MiB).filter((look) => look !== null);
  const most = before_MiB === null || looks.length === 0 ? null : Math.max(...looks) - before_MiB;
  return [
    {
      what,
      against: 'COPY to stdout',
      ratio: median(ratios),
      aim,
      rounds: ratios.length,
      figures: `${speed(times)} to ${speed(copies)}`,
    },
    {
      what: `${answered}, extra memory (${memoryMost_MiB} MiB over it)`,
      against: 'before it',
      ratio: most === null ? null : memoryMost_MiB / Math.max(most, 1),
      aim: { least: 1 },
      rounds: downloads.length,
      figures: `${most?.toFixed(0) ?? 'unknown'} MiB added at most, to ${before_MiB?.toFixed(0) ?? 'unknown'} MiB`,
    },
  ];
};
