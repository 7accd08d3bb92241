/** How large a test is. `npm run test:long` sets LONG=1; this is the one place that reads it. */

/** Whether this is a run of what takes long. */
export const isLong = process.env['LONG'] === '1';

/** The first for every change, the second for `npm run test:long`. */
export const size = <Size>(short: Size, long: Size): Size => (isLong ? long : short);
