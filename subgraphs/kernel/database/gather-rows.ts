/**
 * Writes rows beside what people wait for: they gather in this process and go out in batches. What
 * a killed process had gathered is lost, and what the database does not take is dropped: rows for
 * people to look at, from which no money follows.
 */
import { outsideOfLane } from '../service/lane.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** Rows gather for so long. */
const gather_ms = 1_000;
/** Rows of a batch. */
const batch_max_rows = 500;
/** Rows that wait while the database does not take them; what comes then is dropped. */
const waiting_max_rows = 10_000;

export interface GatheredRows {
  /** Takes a row, by its columns; it never waits and never fails. */
  readonly add: (row: object) => void;
  /** Writes what has gathered. */
  readonly close: () => Promise<void>;
}

/** Rows for `insert`, whose one parameter is a list of them as JSON; `drop` counts what is lost. */
export const gatherRows = (
  runner: Runner,
  insert: Statement,
  drop: (rows: number) => void,
): GatheredRows => {
  const waiting: object[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batch_max_rows);
      // What the database does not take is not tried again: there is nobody to wait for it.
      await run(runner, insert, [JSON.stringify(batch)]).catch(() => drop(batch.length));
    }
  };
  const write = (): Promise<void> => {
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };
  return {
    add: (row) => {
      if (waiting.length >= waiting_max_rows) {
        drop(1);
        return;
      }
      waiting.push(row);
      timer ??= setTimeout(() => void outsideOfLane(write), gather_ms).unref();
    },
    close: () => {
      if (timer) clearTimeout(timer);
      return write();
    },
  };
};
