/**
 * Whose lanes are at work in a process. An owner has so many at the same time; further ones wait
 * here until one of them ends, and hold no place of the queue meanwhile. What waits may be
 * forgotten: the sweep finds what is due.
 */
import { ownerOf } from './lane-name.ts';
import { webhookLanesOfMerchant_max } from './rules.ts';

/** Of one owner; the sweep finds those beyond. */
const waiting_max = 1_000;

interface Turn {
  atWork: number;
  readonly waiting: Set<string>;
}

export class LaneTurns {
  readonly #turns = new Map<string, Turn>();

  /** Whether the lane may be worked now; it waits otherwise. */
  mayBegin(lane: string): boolean {
    const turn = this.#turns.get(ownerOf(lane));
    if (!turn || turn.atWork < webhookLanesOfMerchant_max) return true;
    if (turn.waiting.size < waiting_max) turn.waiting.add(lane);
    return false;
  }

  /** Counts a lane that begins; gives whether it waited. */
  begin(lane: string): boolean {
    const owner = ownerOf(lane);
    const turn = this.#turns.get(owner) ?? { atWork: 0, waiting: new Set() };
    turn.atWork += 1;
    this.#turns.set(owner, turn);
    return turn.waiting.delete(lane);
  }

  /** Counts a lane that has ended; gives the one of its owner that has waited longest. */
  end(lane: string): string | null {
    const owner = ownerOf(lane);
    const turn = this.#turns.get(owner);
    if (!turn) return null;
    turn.atWork -= 1;
    const [next] = turn.atWork < webhookLanesOfMerchant_max ? turn.waiting : [];
    if (turn.atWork === 0 && next === undefined) this.#turns.delete(owner);
    return next ?? null;
  }

  /** Counts a lane that failed. What waits behind the last one is left to the sweep. */
  drop(lane: string): void {
    const owner = ownerOf(lane);
    const turn = this.#turns.get(owner);
    if (!turn) return;
    turn.atWork -= 1;
    if (turn.atWork === 0) this.#turns.delete(owner);
  }
}
