/** An event of the log as a line of a terminal. */
import { decimalOf } from '../money.ts';
import type { LoggedText } from './log-text.ts';
import { row, type Output } from './output.ts';

/** Prints an event: a line, or with `--json` the whole of it. */
export const printEvent = (output: Output, { id, event, created_at, text }: LoggedText): void => {
  const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, unknown>> };
  const { id: of, amount, currency = 'RUB' } = data;
  const sum = typeof amount === 'number' ? decimalOf(amount, String(currency)) : '';
  const line = row(output.dim(created_at), event.padEnd(18), String(of), sum, id);
  output.result({ id, event, created_at, data }, line);
};
