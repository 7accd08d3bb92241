/**
 * Reloads a list when it may have changed: after events, when the service reports a change, and
 * periodically: often while disconnected, rarely while connected, since a message may be lost.
 */
import { useEffect, useRef } from 'react';
import type * as graph from '../../../schema/generated/console.ts';
import { listenChanges, listenLists, useLostAt, type LiveChange } from '../graph/live.ts';

/** The least time between two queries, however many events there are. */
const restOfEvents_ms = 2_000;
/** The service reports list changes at most once a second. */
const restOfLists_ms = 900;
/** What follows from an event, such as webhooks and movements, is there after it. */
const settle_ms = 1_500;
/** The poll intervals while disconnected and while connected. */
const away_ms = 5_000;
const open_ms = 60_000;

export interface Followed {
  readonly lists?: readonly graph.ChangedList[];
  /** Whether events count: yes, unless lists are given. */
  readonly events?: boolean;
  /** Which events count, where not all do. What follows from them is there a moment later. */
  readonly isAbout?: (change: LiveChange) => boolean;
  /** The poll interval of lists whose changes are not reported. */
  readonly every_ms?: number | undefined;
}

/**
 * Schedules a query: at once when the last one is long enough ago, else later. A hidden page
 * queries when it becomes visible.
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

/** Follows what may change an answer; nothing without it. */
export const useFollow = (again: () => void, followed: Followed | undefined): void => {
  const { lists = [], events = lists.length === 0, isAbout, every_ms = open_ms } = followed ?? {};
  const isOn = followed !== undefined;
  const lostAt = useLostAt();
  const latest = useRef({ again, isAbout });
  latest.current = { again, isAbout };
  const names = lists.join(' ');
  const pause_ms = lostAt === null ? every_ms : Math.min(every_ms, away_ms);
  const asking = useRef<ReturnType<typeof openAsking>>(null);
  useEffect(() => {
    if (!isOn) return undefined;
    const opened = openAsking(() => latest.current.again());
    asking.current = opened;
    const askAbout = (changes: readonly LiveChange[]): void => {
      const { isAbout: counts } = latest.current;
      if (!counts) return opened.soon(restOfEvents_ms);
      if (!changes.some(counts)) return undefined;
      opened.now();
      return opened.soon(settle_ms);
    };
    const ends = [
      opened.end,
      ...(events ? [listenChanges(askAbout)] : []),
      listenLists((changed) => {
        if (names.split(' ').some((name) => changed.has(name))) opened.soon(restOfLists_ms);
      }),
    ];
    return () => {
      asking.current = null;
      for (const end of ends) end();
    };
  }, [names, events, isOn]);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => asking.current?.now(), pause_ms);
    return () => clearInterval(timer);
  }, [pause_ms, isOn]);
};
