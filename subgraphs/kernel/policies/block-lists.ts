/**
 * The block lists in memory, each merchant's apart: a change of one is read and built anew by
 * itself, whatever others have on theirs.
 */
import { blockValue, type BlockKind } from '../rules/block.ts';
import { allKeys, type Keys } from '../service/access/keys.ts';

/** Whose list it is: a merchant's id, or this for all merchants. */
const everybody = '*';

/** What is read: whose lists there are, and the entries of those that have changed. */
export interface BlockRows {
  /** By owner, a checksum of the list's entries. */
  readonly checksums: Readonly<Record<string, string>>;
  readonly blocks: readonly (readonly [owner: string, kind: BlockKind, value: string])[];
}

interface OwnedList {
  readonly checksum: string;
  readonly values: ReadonlyMap<BlockKind, ReadonlySet<string>>;
}

/** The lists at one moment. */
export class BlockLists {
  readonly #keys: Keys;
  readonly #lists: ReadonlyMap<string, OwnedList>;
  /** The checksums of what is known, as JSON. */
  readonly known: string;

  constructor(keys: Keys, lists: ReadonlyMap<string, OwnedList> = new Map()) {
    this.#keys = keys;
    this.#lists = lists;
    const checksums = Array.from(lists, ([owner, { checksum }]) => [owner, checksum]);
    this.known = JSON.stringify(Object.fromEntries(checksums));
  }

  /** The lists after what was read against `known`. */
  changedBy({ checksums, blocks }: BlockRows): BlockLists {
    const read = Map.groupBy(blocks, ([owner]) => owner);
    const lists = Object.entries(checksums).map(([owner, checksum]) => {
      const before = this.#lists.get(owner);
      if (before?.checksum === checksum) return [owner, before] as const;
      const byKind = Map.groupBy(read.get(owner) ?? [], ([, kind]) => kind);
      const values = new Map(
        Array.from(byKind, ([kind, rows]) => [kind, new Set(rows.map(([, , value]) => value))]),
      );
      return [owner, { checksum, values }] as const;
    });
    return new BlockLists(this.#keys, new Map(lists));
  }

  /**
   * Whether a value is blocked for all merchants or for this one. What is no value of its kind is
   * not blocked.
   */
  isBlocked(merchantId: string, kind: BlockKind, text: string): boolean {
    const sets = [everybody, merchantId].flatMap((owner) => {
      const values = this.#lists.get(owner)?.values.get(kind);
      return values ? [values] : [];
    });
    // A fingerprint is made only when there is something to compare it with. An entry keeps the
    // fingerprint of the day when it was made.
    if (sets.length === 0) return false;
    const values = allKeys(this.#keys).flatMap((key) => blockValue(key, kind, text)?.value ?? []);
    return values.some((value) => sets.some((set) => set.has(value)));
  }
}
