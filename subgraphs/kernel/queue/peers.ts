/**
 * Who else is on the bus. A process announces itself when it begins to listen, which the others
 * answer, and again every few seconds. Where nobody is, messages that only hasten things need not
 * be sent.
 */
import { randomUUID } from 'node:crypto';
import { boolean, object, string } from 'valibot';
import { readAs } from '../service/read-as.ts';
import type { Logger } from '../service/tracing/telemetry.ts';

const announceEach_ms = 10_000;
/** Who was not seen for so long has left. */
const seen_max_ms = 35_000;
/** How long the others have to answer. */
const answer_ms = 1_000;
/** A process that is alone sends events so often: whoever is there unknown then catches up. */
const aloneEach_ms = 1_000;

export interface Peers {
  /**
   * Whether a message of events is to be sent: always when another process is known to be on the
   * bus, else once a second.
   */
  needEvents(): boolean;
  /** This process listens, perhaps anew: fulfils when the others have been asked for. */
  began(): Promise<void>;
  /** What was announced; what is nothing of the kind is logged. */
  receive(text: string): void;
  close(): void;
}

const announced = object({ id: string(), asks: boolean() });

/** Opens it for this process; `send` sends an announcement, and never rejects. */
export const openPeers = (send: (text: string) => Promise<void>, log: Logger): Peers => {
  const id = randomUUID();
  let seenAt_ms = -Infinity;
  let askedAt_ms = Infinity;
  let neededAt_ms = -Infinity;
  const isAlone = (now_ms: number): boolean =>
    now_ms - askedAt_ms > answer_ms && now_ms - seenAt_ms > seen_max_ms;
  const announce = (asks: boolean): Promise<void> => send(JSON.stringify({ id, asks }));
  let timer: NodeJS.Timeout | null = null;
  return {
    needEvents: () => {
      const now_ms = performance.now();
      if (isAlone(now_ms) && now_ms - neededAt_ms < aloneEach_ms) return false;
      neededAt_ms = now_ms;
      return true;
    },
    began: async () => {
      timer ??= setInterval(() => void announce(false), announceEach_ms).unref();
      askedAt_ms = Infinity;
      await announce(true);
      askedAt_ms = performance.now();
    },
    receive: (text) => {
      try {
        const { id: from, asks } = readAs(announced, JSON.parse(text), 'an announcement');
        if (from === id) return;
        seenAt_ms = performance.now();
        if (asks) void announce(false);
      } catch (error) {
        log.warn({ err: error }, 'an announcement on the bus is not what it should be');
      }
    },
    close: () => clearInterval(timer ?? undefined),
  };
};
