/** Which bank serves an operation. Contract "Modes": test keys reach the simulator, live keys a real acquirer. */
import { refused, type Refused } from '../rules/refusal.ts';
import type { Mode } from '../rules/mode.ts';
import type { Bank } from './bank.ts';
import type { Simulator } from './simulator.ts';

export interface Banks {
  readonly simulator: Simulator;
  /** The bank of a mode, or `route_not_configured` when the shop has none. */
  of(mode: Mode): Bank | Refused;
}

/** The banks of this installation. */
export const openBanks = (simulator: Simulator): Banks => ({
  simulator,
  of: (mode) => (mode === 'test' ? simulator : refused('route_not_configured', 'no live acquirer is configured for this shop')),
});
