/** Writes rows outside the request path, in batches (`service/buffer`). */
import { openBuffer, type Buffer } from '../bus/buffer.ts';
import { run, type Runner, type Statement } from './statement.ts';

/** Rows, by their columns. */
export type BufferedRows = Buffer<object>;

const batch_max = 500;

/** Rows for `insert`, whose one parameter is a list of them as JSON; `drop` counts what is lost. */
export const bufferRows = (
  runner: Runner,
  insert: Statement,
  drop: (rows: number) => void,
): BufferedRows =>
  openBuffer({
    batch_max,
    write: (rows) => run(runner, insert, [JSON.stringify(rows)]),
    drop,
  });
