/**
 * Asks for a list anew when it may have changed: after something happened, when the service says
 * that the list has changed, after a lost connection, and now and then: often while the connection
 * is away, seldom while it is there, since a word of it may be lost.
 */
import { useEffect, useRef } from 'react';
import type { ChangedList } from '../../../schema/generated/console.ts';
import { useLive } from '../graph/live.tsx';

/** From one question to the next, however many events there are. */
const restOfEvents_ms = 2_000;
/** The service says at most once a second that lists have changed. */
const restOfLists_ms = 900;
/** How often a list is looked at while the connection is away. */
const away_ms = 5_000;
/** And while it is there. */
const open_ms = 60_000;

export interface Followed {
  /** The lists whose changes count. */
  readonly lists?: readonly ChangedList[];
  /** Whether events count: yes, unless lists are named. */
  readonly events?: boolean;
  /** How often the list is looked at: where nothing says that it has changed. */
  readonly every_ms?: number;
  /** Whether it is followed at all. */
  readonly isOn?: boolean;
}

/**
 * A way to ask soon: at once when the last question is a rest ago, else when it is. A page that
 * nobody looks at asks when it is looked at again.
 */
const openAsking = (ask: () => void) => {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let due_ms = 0;
  let asked_ms = -Infinity;
  let isStale = false;
  const now = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    isStale = document.visibilityState !== 'visible';
    if (isStale) return;
    asked_ms = performance.now();
    ask();
  };
  const look = (): void => {
    if (isStale) now();
  };
  document.addEventListener('visibilitychange', look);
  return {
    now,
    soon: (rest_ms: number): void => {
      const next_ms = Math.max(performance.now(), asked_ms + rest_ms);
      if (timer && due_ms <= next_ms) return;
      if (timer) clearTimeout(timer);
      due_ms = next_ms;
      timer = setTimeout(now, next_ms - performance.now());
    },
    end: (): void => {
      document.removeEventListener('visibilitychange', look);
      if (timer) clearTimeout(timer);
    },
  };
};

/** Follows; `again` asks. */
export const useFollow = (
  again: () => void,
  { lists = [], events = lists.length === 0, every_ms = open_ms, isOn = true }: Followed = {},
): void => {
  const { listen, listenLists, lostAt, epoch } = useLive();
  const latest = useRef(again);
  latest.current = again;
  const names = lists.join(' ');
  const pause_ms = lostAt === null ? every_ms : Math.min(every_ms, away_ms);
  const asking = useRef<ReturnType<typeof openAsking>>(null);
  useEffect(() => {
    if (!isOn) return undefined;
    const opened = openAsking(() => latest.current());
    asking.current = opened;
    const ends = [
      opened.end,
      ...(events ? [listen(() => opened.soon(restOfEvents_ms))] : []),
      listenLists((changed) => {
        if (names.split(' ').some((name) => changed.has(name))) opened.soon(restOfLists_ms);
      }),
    ];
    return () => {
      asking.current = null;
      for (const end of ends) end();
    };
  }, [listen, listenLists, names, events, isOn]);
  useEffect(() => {
    if (epoch > 0) asking.current?.now();
  }, [epoch]);
  useEffect(() => {
    const timer = setInterval(() => asking.current?.now(), pause_ms);
    return () => clearInterval(timer);
  }, [pause_ms]);
};
