/**
 * Writes rows outside the request path: they wait in this process and are written in batches.
 * Rows batched by a killed process are lost, and rows that the database rejects are dropped:
 * people only look at these rows, and no money depends on them.
 */
import { outsideOfLane } from '../service/lane.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** Rows wait so long. */
const flush_ms = 1_000;
/** Rows of a batch. */
const batch_max_rows = 500;
/** Rows that wait while the database is unavailable; further rows are dropped. */
const waiting_max_rows = 10_000;

export interface BufferedRows {
  /** Takes a row, by its columns; it never waits and never fails. */
  readonly add: (row: object) => void;
  /** Writes what has batched. */
  readonly close: () => Promise<void>;
}

/** Rows for `insert`, whose one parameter is a list of them as JSON; `drop` counts what is lost. */
export const bufferRows = (
  runner: Runner,
  insert: Statement,
  drop: (rows: number) => void,
): BufferedRows => {
  const waiting: object[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batch_max_rows);
      // A failed write is not retried: no caller waits for it.
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
      timer ??= setTimeout(() => void outsideOfLane(write), flush_ms).unref();
    },
    close: () => {
      if (timer) clearTimeout(timer);
      return write();
    },
  };
};
