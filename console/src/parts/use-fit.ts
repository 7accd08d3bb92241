/**
 * Fits a table into its place: wide columns are dropped from right to left. Nothing scrolls
 * sideways.
 */
import { useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';

interface Given {
  readonly isWide?: boolean;
}

/** The columns without the given number of wide ones, counted from the right. */
const without = <Column extends Given>(
  columns: readonly Column[],
  given: number,
): readonly Column[] => {
  const wide = columns.filter(({ isWide }) => isWide);
  const gone = new Set(given === 0 ? [] : wide.slice(-given));
  return columns.filter((column) => !gone.has(column));
};

/** The columns that fit into `place`. When none is left to drop, texts are truncated. */
export const useFit = <Column extends Given>(
  place: RefObject<HTMLElement | null>,
  all: readonly Column[],
) => {
  const [fit, setFit] = useState({ all, given: 0 });
  const { given } = fit.all === all ? fit : { given: 0 };
  const given_max = all.filter(({ isWide }) => isWide).length + 1;
  const look = useRef<() => void>(() => {});
  look.current = () => {
    const { current: around } = place;
    const isOver = around !== null && around.scrollWidth > around.clientWidth;
    if (isOver && given < given_max) setFit({ all, given: given + 1 });
  };
  // Rows of another list are wider or narrower.
  useLayoutEffect(() => look.current());
  useLayoutEffect(() => {
    const { current: around } = place;
    if (around === null) return undefined;
    let width = around.clientWidth;
    const watcher = new ResizeObserver(() => {
      if (around.clientWidth === width) return look.current();
      width = around.clientWidth;
      return setFit(({ all: columns }) => ({ all: columns, given: 0 }));
    });
    watcher.observe(around);
    for (const child of around.children) watcher.observe(child);
    return () => watcher.disconnect();
  }, [place]);
  const columns = useMemo(() => without(all, given), [all, given]);
  return { columns, isTight: given === given_max };
};
