/** Ids that grow with time: their form, their order, and what of them is random. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { newRowId } from '../../subgraphs/platform/database/statement.ts';
import { sqlFile } from '../../subgraphs/platform/database/sql-file.ts';
import { openPool, startTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await startTestDatabase();
  pool = openPool(database.url, 8);
});
after(async () => {
  await pool.end();
  await database.stop();
});

const v4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
/** The expression of the statement that makes ids itself. */
const idInSql = (): string => {
  const { text } = sqlFile(
    join(import.meta.dirname, '../../subgraphs/platform/events'),
    'number-oldest.sql',
  );
  return /encode\(overlay.*?::uuid/s.exec(text)?.[0] ?? '';
};
const inSql = async (count: number): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `select ${idInSql()} as id from generate_series(1, $1)`,
    [count],
  );
  return rows.map(({ id }) => id);
};
const inProgram = (count: number): Promise<string[]> =>
  Promise.resolve(Array.from({ length: count }, () => newRowId()));

for (const [where, make] of [
  ['made in the program', inProgram],
  ['made in SQL', inSql],
] as const) {
  test(`${where}: a UUIDv4 by its form that begins with the time of its making`, async () => {
    const from_ms = Date.now();
    const ids = await make(1_000);
    const to_ms = Date.now();
    assert.deepEqual(
      ids.filter((id) => !v4.test(id)),
      [],
    );
    const times = ids.map(timeOf);
    assert.ok(times.every((at_ms) => at_ms >= from_ms && at_ms <= to_ms));
  });

  test(`${where}: of those of different moments, the later is the greater`, async () => {
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      ids.push(...(await make(1)));
      const at_ms = Date.now();
      while (Date.now() <= at_ms + 1);
    }
    assert.deepEqual(ids.toSorted(), ids);
  });

  test(`${where}: 74 bits are random, each by itself`, async () => {
    const count = 20_000;
    const ids = await make(count);
    const ones = Array.from({ length: 128 }, () => 0);
    for (const id of ids) {
      const value = BigInt(`0x${id.replaceAll('-', '')}`);
      for (let bit = 0; bit < 128; bit += 1)
        if ((value >> BigInt(127 - bit)) & 1n) ones[bit] = (ones[bit] ?? 0) + 1;
    }
    // The time, then the version (0100) and the variant (10) stand still.
    const fixed = [48, 49, 50, 51, 64, 65];
    assert.deepEqual(
      fixed.map((bit) => ones[bit]),
      [0, count, 0, 0, count, 0],
    );
    const random = ones.flatMap((sum, bit) => (bit < 48 || fixed.includes(bit) ? [] : [sum]));
    assert.equal(random.length, 74);
    // Eight standard deviations: one run in 10^13 goes further by chance.
    const most = 8 * Math.sqrt(count / 4);
    assert.ok(
      random.every((sum) => Math.abs(sum - count / 2) < most),
      String(random),
    );
  });
}

test('many made at once, in the program and by several connections, are all different', async () => {
  const made = await Promise.all([
    ...Array.from({ length: 8 }, () => inSql(5_000)),
    inProgram(100_000),
  ]);
  const ids = made.flat();
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(ids.length, 140_000);
});

test('a moment has the digits of its milliseconds, before 2004 and after 10889 too', () => {
  assert.match(newRowId(0), /^00000000-0000-4/);
  assert.match(newRowId(0x18c_0000_0001), /^018c0000-0001-4/);
  assert.match(newRowId(2 ** 48 - 1), /^ffffffff-ffff-4/);
});
