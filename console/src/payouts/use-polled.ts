/** Asks again while the page is looked at: what other people decide is no event. */
import { useEffect } from 'react';

const pause_ms = 5_000;

/** Calls `again` every few seconds, and at once when the page comes back into view. */
export const usePolled = (again: () => void, isOn = true): void => {
  useEffect(() => {
    if (!isOn) return undefined;
    const ask = (): void => {
      if (document.visibilityState === 'visible') again();
    };
    const timer = setInterval(ask, pause_ms);
    document.addEventListener('visibilitychange', ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', ask);
    };
  }, [again, isOn]);
};
