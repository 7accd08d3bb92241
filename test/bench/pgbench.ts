/** pgbench, PostgreSQL's own load generator, running the service's own statement: what the database alone can do. */
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
 * The statement with pgbench's variables in place of its parameters. Those in `fresh` are ids that each request makes anew; the server makes them
 * here, each time that the statement names them.
 */
const scriptOf = ({ text, values }: SentStatement, fresh: readonly number[]): string =>
  text.replaceAll(/\$(\d+)/g, (_, place: string) => {
    if (fresh.includes(Number(place) - 1)) return 'gen_random_uuid()';
    return values[Number(place) - 1] === null ? `nullif(:p${place}, '${nothing}')` : `:p${place}`;
  });

/** Whole seconds: pgbench knows no less. Its connections are made anew each time, which a second alone would feel. */
const leastDuration_s = 2;

/** pgbench as a subject of rounds. `directory` is where its script may stand. */
export const pgbenchSubject = (statement: SentStatement, fresh: readonly number[], url: string, directory: string, postgres: CpuClock): Subject => {
  const script = join(directory, 'create-payment.sql');
  writeFileSync(script, `${scriptOf(statement, fresh)};\n`);
  const variables = statement.values.flatMap((value, index) => ['-D', `p${index + 1}=${value ?? nothing}`]);
  const run = async (connections: number, duration_s: number) => {
    const options = ['-n', '-M', 'prepared', '-f', script, '-c', `${connections}`, '-j', '1', '-T', `${duration_s}`];
    const { stdout } = await promisify(execFile)('pgbench', [...options, ...variables, url]);
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
      const { result, each_us } = await withClocks([postgres], () => run(connections, Math.max(leastDuration_s, rounded_s)));
      return { perSecond: result.perSecond, p50_us: result.average_us, server_us: null, postgres_us: each_us[0] ?? null };
    },
  };
};
