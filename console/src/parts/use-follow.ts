/**
 * Asks for a list anew when it may have changed: after something happened, after a lost connection,
 * and, where `every_ms` is given, now and then while the page is looked at.
 */
import { useEffect, useRef } from 'react';
import { useLive } from '../graph/live.tsx';

/** From one question to the next, however much happens. */
const rest_ms = 2_000;

/** Follows; `again` asks. */
export const useFollow = (again: () => void, every_ms: number | null = null): void => {
  const { listen, epoch } = useLive();
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const ask = (): void => {
      timer = null;
      latest.current();
    };
    const unlisten = listen(() => (timer ??= setTimeout(ask, rest_ms)));
    return () => {
      unlisten();
      if (timer) clearTimeout(timer);
    };
  }, [listen]);
  useEffect(() => {
    if (epoch > 0) latest.current();
  }, [epoch]);
  useEffect(() => {
    if (every_ms === null) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
};
