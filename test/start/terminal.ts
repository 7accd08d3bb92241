/**
 * A program in a terminal of its own, as a person starts it: `script` of util-linux has the
 * terminal, and Ctrl-C is pressed in it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { startPatience_ms as patience_ms } from '../support/service.ts';

/** A moment of a start is soon over. */
const look_ms = 5;

export interface Terminal {
  /** Everything that was shown. */
  shown(): string;
  /** Presses Ctrl-C: the terminal sends SIGINT to whatever runs in its foreground. */
  interrupt(): void;
  /** The code that the program ended with. Throws what was shown when it does not end. */
  ended(): Promise<number | null>;
  /** Ends what is left. */
  close(): void;
}

/** Starts a command of the shell in a new terminal. */
export const openTerminal = (
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Terminal => {
  const inherited = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    TERM: 'dumb',
  };
  // It must hand on the program's code, and never write a typescript.
  const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.on('data', (part: Buffer) => (text += part.toString()));
  const exit = once(child, 'exit').then(([code]): number | null => code);
  return {
    shown: () => text,
    interrupt: () => void child.stdin?.write('\u0003'),
    ended: async () => {
      const late = delay(patience_ms, 'late' as const, { ref: false });
      const code = await Promise.race([exit, late]);
      assert.notEqual(code, 'late', `it did not end:\n${text}`);
      return code === 'late' ? null : code;
    },
    close: () => void child.kill('SIGKILL'),
  };
};

/** Waits until something is there. Throws what the terminal shows when it does not come. */
export const until = async (
  what: string,
  isThere: () => boolean,
  shown: () => string,
): Promise<void> => {
  for (const deadline = performance.now() + patience_ms; !isThere(); await delay(look_ms)) {
    assert.ok(performance.now() < deadline, `${what} never came:\n${shown()}`);
  }
};

const attempt = (read: () => string): string => {
  try {
    return read();
  } catch {
    // It has ended in between.
    return '';
  }
};

/**
 * The command lines of the living processes that were given this folder as DATA_DIR, or work in it.
 * Only Linux lists them.
 */
export const processesAt = (folder: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll(
        '\0',
        ' ',
      );
      const given = attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).split('\0');
      const within = attempt(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(folder);
      return command !== '' && (within || given.includes(`DATA_DIR=${folder}`)) ? [command] : [];
    });
