/**
 * Writes what no call waits for: items gather in this process and are written in batches about once
 * a second. What a killed process has gathered is lost, and a batch that cannot be written is
 * dropped: people only look at these items, and no money depends on them.
 */
import { outsideOfLane } from '../access/lane.ts';

/** Items wait so long. */
const flush_ms = 1_000;
/** Items that wait while they cannot be written; further ones are dropped. */
const waiting_max = 10_000;

interface BufferDeps<Item> {
  /** Items of a batch. */
  readonly batch_max: number;
  readonly write: (batch: readonly Item[]) => Promise<unknown>;
  /** Counts what is lost, with the reason where there is one. */
  readonly drop: (items: number, error?: unknown) => void;
}

export const openBuffer = <Item>({ batch_max, write, drop }: BufferDeps<Item>) => {
  const waiting: Item[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batch_max);
      await write(batch).catch((error: unknown) => drop(batch.length, error));
    }
  };
  const flush = (): Promise<void> => {
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };
  return {
    /** Takes an item; it never waits and never fails. */
    add: (item: Item): void => {
      if (waiting.length >= waiting_max) return drop(1);
      waiting.push(item);
      timer ??= setTimeout(() => void outsideOfLane(flush), flush_ms).unref();
    },
    /** Writes what has gathered. */
    close: (): Promise<void> => {
      if (timer) clearTimeout(timer);
      return flush();
    },
  };
};

export type Buffer<Item> = ReturnType<typeof openBuffer<Item>>;
