/** True after a delay: short waits show no placeholder. */
import { useEffect, useState } from 'react';

export const useDelayed = (delay_ms: number): boolean => {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), delay_ms);
    return () => clearTimeout(timer);
  }, [delay_ms]);
  return isOver;
};
