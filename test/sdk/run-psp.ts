/** Runs the command `psp` with a configuration of its own: a line of it here, or its process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runLine } from '../../sdk/src/psp/run-line.ts';
import { inherited } from '../support/service.ts';

export const program = join(import.meta.dirname, '../../sdk/src/psp/main.ts');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Psp {
  /** Where it keeps what it knows. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts it and leaves it running. */
  start(...args: readonly string[]): ChildProcess;
  /** Runs a line of it in this process, which costs a tenth of one. */
  run(args: readonly string[]): Promise<Ran>;
  /** Runs it to its end as a process; `input` is its standard input. */
  runProcess(args: readonly string[], input?: string): Promise<Ran>;
  /** Runs it with `--json` and gives what it printed; throws when it failed. */
  json(...args: readonly string[]): Promise<any[]>;
  remove(): void;
}

/** Keeps what is written to it. */
const openKeeper = () => {
  const parts: Uint8Array[] = [];
  const stream = new Writable({
    write: (part: Uint8Array, _encoding, done) => {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString() };
};

/** A terminal with these variables. */
export const openPsp = (variables: Readonly<Record<string, string>>): Psp => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-psp-'));
  const env = { ...inherited, PSP_CONFIG: join(folder, 'psp'), ...variables };
  const start = (...args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], { env, stdio: 'pipe' });
  const run = async (args: readonly string[]): Promise<Ran> => {
    const [out, err] = [openKeeper(), openKeeper()];
    const terminal = { env, stdout: out.stream, stderr: err.stream };
    const code = await runLine(args, terminal, () => new AbortController().signal);
    return { code, out: out.text(), err: err.text() };
  };
  const runProcess = async (args: readonly string[], input = ''): Promise<Ran> => {
    const child = start(...args);
    let [out, err] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
    // A program that needs no input may have ended before it is written.
    child.stdin?.on('error', () => {}).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out, err };
  };
  return {
    folder: join(folder, 'psp'),
    env,
    start,
    run,
    runProcess,
    json: async (...args) => {
      const { code, out, err } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`psp ${args.join(' ')} ended with ${code}\n${err}`);
      return out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
