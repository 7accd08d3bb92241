import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lru } from '../../subgraphs/kernel/service/lru.ts';

/** The same, as slowly as one can: a list with what was used last at its end. */
class Listed {
  entries: (readonly [key: number, value: number])[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: number): number | undefined {
    const entry = this.entries.find(([known]) => known === key);
    if (entry) this.entries = [...this.entries.filter((other) => other !== entry), entry];
    return entry?.[1];
  }

  set(key: number, value: number): void {
    this.entries = [
      ...this.entries.filter(([known]) => known !== key),
      [key, value] as const,
    ].slice(-this.#most);
  }

  deleteWhere(forget: (value: number, key: number) => boolean): void {
    this.entries = this.entries.filter(([key, value]) => !forget(value, key));
  }
}

/** Numbers below `end` that come out the same in every run. */
const numbers = (): ((end: number) => number) => {
  let state = 1;
  return (end) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % end;
  };
};

test('what was not used for longest goes first, whatever was used, set and forgotten in between', () => {
  const next = numbers();
  for (const most of [1, 2, 5]) {
    const [lru, listed] = [new Lru<number, number>(most), new Listed(most)];
    for (let step = 0; step < 3_000; step += 1) {
      const [what, key, value] = [next(10), next(9), next(1_000)];
      if (what < 5) {
        lru.set(key, value);
        listed.set(key, value);
      } else if (what < 8) assert.equal(lru.get(key), listed.get(key), `step ${step} with ${most}`);
      else if (what < 9) {
        lru.delete(key);
        listed.deleteWhere((_, known) => known === key);
      } else {
        lru.deleteWhere((kept) => kept % 3 === value % 3);
        listed.deleteWhere((kept) => kept % 3 === value % 3);
      }
      assert.equal(lru.size, listed.entries.length, `step ${step} with ${most}`);
    }
    for (const [key, value] of listed.entries) assert.equal(lru.get(key), value);
  }
});
