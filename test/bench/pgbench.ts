/**
 * pgbench, PostgreSQL's own load generator, running the service's own statement: what the database
 * alone can do.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CpuClock } from './cpu.ts';
import type { Sample, Subject } from './rounds.ts';
import type { SentStatement } from './sent-statement.ts';
import { withClocks } from './subject.ts';

/** Whether the program is there. */
export const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0;

/** pgbench's variables cannot be null. */
const nothing = '-';

/**
 * The statement with pgbench's variables in place of its parameters. Those in `fresh` are ids that
 * each request makes anew; the server makes them here, each time that the statement names them.
 */
const scriptOf = ({ text, values }: SentStatement, fresh: readonly number[]): string =>
  text.replaceAll(/\$(\d+)/g, (_, place: string) => {
    if (fresh.includes(Number(place) - 1)) return 'gen_random_uuid()';
    return values[Number(place) - 1] === null ? `nullif(:p${place}, '${nothing}')` : `:p${place}`;
  });

/**
 * Whole seconds: pgbench knows no less. Its connections are made anew each time, which a second
 * alone would feel.
 */
const duration_min_s = 2;
/** It prints something of each script. */
const output_max_bytes = 16 * 1_024 * 1_024;

/** Scripts that pgbench runs in turns, at random, and the variables that they name. */
export interface Scripts {
  /** Each one's text; it is kept in `directory` under `name`. */
  readonly texts: readonly string[];
  readonly variables: readonly string[];
  readonly name: string;
  /** Whether a round is so many runs, as `requests_max` says, instead of so long. */
  readonly counted?: boolean;
}

/**
 * pgbench as a subject of rounds, with scripts of any kind. `directory` is where they may stand.
 */
export const scriptsSubject = (
  { texts, variables, name, counted = false }: Scripts,
  url: string,
  directory: string,
  postgres: CpuClock,
): Subject => {
  const files = texts.map((text, index) => {
    const file = join(directory, `${name}-${index}.sql`);
    writeFileSync(file, text);
    return file;
  });
  const run = async (connections: number, length: readonly string[]) => {
    const scripts = files.flatMap((file) => ['-f', file]);
    const options = [
      '-n',
      '-M',
      'prepared',
      ...scripts,
      '-c',
      `${connections}`,
      '-j',
      '1',
      ...length,
    ];
    const { stdout } = await promisify(execFile)('pgbench', [...options, ...variables, url], {
      maxBuffer: output_max_bytes,
    });
    // The processes of its connections end by themselves, a moment later.
    await sleep(100);
    const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1]);
    return {
      answered: number(/actually processed: (\d+)/),
      perSecond: number(/tps = ([\d.]+)/),
      average_us: number(/latency average = ([\d.]+) ms/) * 1_000,
    };
  };
  return {
    name: 'pgbench',
    measure: async ({ connections, duration_ms, requests_max }): Promise<Sample> => {
      // It has nothing to warm up: its own time is not measured.
      const rounded_s = requests_max === undefined ? Math.round(duration_ms / 1_000) : 0;
      const length = counted
        ? ['-t', `${Math.ceil((requests_max ?? 0) / connections)}`]
        : ['-T', `${Math.max(duration_min_s, rounded_s)}`];
      const { result, each_us } = await withClocks([postgres], () => run(connections, length));
      return {
        perSecond: result.perSecond,
        p50_us: result.average_us,
        server_us: null,
        postgres_us: each_us[0] ?? null,
      };
    },
  };
};

/** One statement of the service as a subject of rounds. */
export const pgbenchSubject = (
  statement: SentStatement,
  fresh: readonly number[],
  url: string,
  directory: string,
  postgres: CpuClock,
): Subject => {
  const variables = statement.values.flatMap((value, index) => [
    '-D',
    `p${index + 1}=${value ?? nothing}`,
  ]);
  return scriptsSubject(
    { texts: [`${scriptOf(statement, fresh)};\n`], variables, name: 'create-payment' },
    url,
    directory,
    postgres,
  );
};
