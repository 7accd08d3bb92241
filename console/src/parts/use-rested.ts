/** A debounced text: queries about what is being typed wait until it rests. */
import { useEffect, useState } from 'react';

export const useRested = (text: string): string => {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
};
