/**
 * `npm run bench [-- whole create read webhooks documents soak lists] [--quick] [--minutes=30]
 * [--payments=5000000]`: measures the service next to a bare program of fastify and pg, which makes
 * the same exchanges on the same PostgreSQL, by turns, and prints ratios. A run that is not quick
 * writes its tables to docs/benchmarks.md. No figure here fails anything: machines differ. A part
 * that cannot be measured does, after the others have been.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listRows } from './lists.ts';
import { createRows, documentRows, readRows, wholeRows } from './payments.ts';
import type { Row } from './rounds.ts';
import { openBench, type Bench } from './sides.ts';
import { soakRows } from './soak.ts';
import { webhookRows } from './webhooks.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    payments: { type: 'string' },
  },
});
const { quick } = options;

/** The number that an option gives; null without it. */
const numberOf = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text);

/**
 * In the order in which they are measured: whole payments are what the service is for, and the
 * lists leave millions of rows behind.
 */
const parts = {
  whole: wholeRows,
  create: createRows,
  read: readRows,
  webhooks: webhookRows,
  documents: documentRows,
  soak: soakRows(numberOf(options.minutes)),
  lists: listRows(numberOf(options.payments)),
} as const satisfies Readonly<Record<string, (bench: Bench) => Promise<readonly Row[]>>>;

type PartName = keyof typeof parts;
const partNames = Object.keys(parts) as readonly PartName[];

const document = join(import.meta.dirname, '../../docs/benchmarks.md');
/** Writes the section of a part anew, in its place; all else in the document is written by hand. */
const keep = (name: PartName, rows: readonly Row[]): void => {
  const date = Temporal.Now.plainDateISO().toString();
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`;
  const lines = rows.map(
    (row) => `| ${row.what} | ${row.ratio.toFixed(2)} | ${row.service} | ${row.bare} |\n`,
  );
  const head = '| what | ratio | service | bare fastify and pg |\n| --- | --- | --- | --- |\n';
  const section = `## ${name}\n\n${date}, ${machine}.\n\n${head}${lines.join('')}\n`;
  const sections = readFileSync(document, 'utf8').split(/^(?=## )/m);
  const written = sections.map((old) => (old.startsWith(`## ${name}\n`) ? section : old));
  writeFileSync(document, written.join(''));
};

const main = async (): Promise<void> => {
  const unknown = positionals.filter((name) => !partNames.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(`there is no ${unknown.join(', ')}; there is ${partNames.join(', ')}`);
  const named = partNames.filter((name) => positionals.includes(name));
  const began_ms = performance.now();
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Error('stopped')));
  // The first signal ends the run in order, at its next word; the second at once.
  const progress = (text: string): void => {
    stopping.signal.throwIfAborted();
    console.error(`${((performance.now() - began_ms) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
  };
  await using stack = new AsyncDisposableStack();
  const bench = await openBench({ quick, progress }, stack);
  const found: Row[] = [];
  for (const name of named.length > 0 ? named : partNames)
    try {
      const rows = await parts[name](bench);
      found.push(...rows);
      if (!quick) keep(name, rows);
    } catch (error) {
      console.error(`${name} was not measured:`, error);
      process.exitCode = 1;
    }
  console.table(found.map((row) => ({ ...row, ratio: row.ratio.toFixed(2) })));
};

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
