/**
 * `npm run test:chaos`: the long form of the chaos test. CHAOS_OPERATIONS (default 2000),
 * CHAOS_KILLS (40), CHAOS_TIMES (how much faster time passes, 6), CHAOS_AT_ONCE (16), and
 * CHAOS_SEED, which is chosen and printed when it is absent.
 */
import { randomInt } from 'node:crypto';
import { runChaos } from './run-chaos.ts';

const number = (name: string, usual: number): number =>
  Number(process.env[`CHAOS_${name}`] ?? usual);

const print = (line: string): void => console.log(line);
await runChaos({
  operations: number('OPERATIONS', 2_000),
  atOnce: number('AT_ONCE', 16),
  kills: number('KILLS', 40),
  times: number('TIMES', 6),
  seed: number('SEED', randomInt(1_000_000)),
  patience_ms: number('PATIENCE_MS', 600_000),
  print,
});
