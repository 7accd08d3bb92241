/**
 * What the system knows of another process. A pid alone proves nothing: the system reuses it, in
 * containers within seconds.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { errorCode } from '../../service/error-code.ts';

const proc = existsSync('/proc/self/stat');

const readProc = (path: string): string | null => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
};

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

const askPs = (pid: number, column: 'lstart' | 'command'): string | null => {
  if (!alive(pid)) return null;
  // Windows has no ps: there a living pid has to be enough.
  if (process.platform === 'win32') return '';
  const answer = spawnSync('ps', ['-o', `${column}=`, '-p', `${pid}`], { encoding: 'utf8' });
  return answer.stdout?.trim() || null;
};

/**
 * A text unique to this process (its start time, on this boot of the machine), or null when there
 * is no such process. A zombie counts as gone.
 */
export const birthMark = (pid: number): string | null => {
  if (!proc) return askPs(pid, 'lstart');
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in brackets and may itself hold spaces and brackets;
  // state and start time are 3rd and 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${fields[19]} ${readProc('sys/kernel/random/boot_id')?.trim()}`;
};

/**
 * The arguments of a living program's command line, empty on a system that does not show them; null
 * when there is no such process.
 */
export const commandLine = (pid: number): readonly string[] | null => {
  if (!proc) return askPs(pid, 'command')?.split(' ').filter(Boolean) ?? null;
  if (birthMark(pid) === null) return null;
  // The kernel's own threads, and a process on its way out, have none.
  const words = readProc(`${pid}/cmdline`)?.split('\0').filter(Boolean) ?? [];
  return words.length > 0 ? words : null;
};
