/** The columns of a list: those that the person has chosen, and those that fit. */
import { useMemo, type ReactNode, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { changeSettings, useSettings } from '../settings.ts';
import { sharedWords } from '../words/shared.ts';
import { Button } from './button.tsx';
import { CheckList } from './fields.tsx';
import { Icon } from './icon.tsx';
import { PopoverButton } from './modal.tsx';

export interface Column<Row> {
  /** Its name in the person's choice of columns; without one its place. */
  readonly id?: string;
  /** Shown only when the person chooses it. */
  readonly isExtra?: boolean;
  readonly name: string;
  readonly isNumber?: boolean;
  /** Left out on a narrow screen, and dropped where the table has no room for it. */
  readonly isWide?: boolean;
  /** On a narrow screen its name is shown: the value does not explain itself. */
  readonly isNamed?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

/** What is shown only when it is chosen, and where there is room. */
export const extra = { isExtra: true, isWide: true } as const;

/** A number, with its name beside it where a row is a card. */
export const figure = { isNumber: true, isNamed: true } as const;

const idOf = <Row,>({ id }: Column<Row>, place: number): string => id ?? String(place);

/** The visible columns, and a function to change them; stable while `all` is. */
export const useColumns = <Row,>(list: string, all: readonly Column<Row>[]) => {
  const { columns } = useSettings();
  const kept = columns[list];
  const { usual, chosen, shown } = useMemo(() => {
    const ids = all.map(idOf).filter((_, place) => all[place]?.isExtra !== true);
    const of = (names: readonly string[]) =>
      all.filter((column, place) => names.includes(idOf(column, place)));
    const found = of(kept ?? ids);
    // Without any column the defaults apply.
    const or = found.length === 0 ? of(ids) : found;
    return { usual: ids, chosen: kept ?? ids, shown: or };
  }, [all, kept]);
  const change = (ids: readonly string[]): void =>
    changeSettings({ columns: { ...columns, [list]: ids } });
  return {
    shown,
    value: chosen,
    options: all.map((column, place) => [idOf(column, place), column.name] as const),
    set: change,
    reset: () => change(usual),
  };
};

export const ColumnsButton = ({
  reset,
  ...choice
}: Omit<ReturnType<typeof useColumns>, 'shown'>) => (
  <PopoverButton
    className="button columns-button"
    title={sharedWords.columns}
    face={
      <>
        <Icon name="sides" />
        {sharedWords.columns}
      </>
    }
  >
    {() => (
      <>
        <CheckList label={sharedWords.columns} {...choice} />
        <p className="quiet">{sharedWords.columnsText}</p>
        <Button press={reset}>{sharedWords.usual}</Button>
      </>
    )}
  </PopoverButton>
);

// Fits a table into its place: wide columns are dropped from right to left. Nothing scrolls
// sideways.

/** The columns without the given number of wide ones, counted from the right. */
const without = <Row,>(columns: readonly Column<Row>[], given: number) => {
  const wide = columns.filter(({ isWide }) => isWide);
  const gone = new Set(given === 0 ? [] : wide.slice(-given));
  return columns.filter((column) => !gone.has(column));
};

/** The columns that fit into `place`. When none is left to drop, texts are truncated. */
export const useFit = <Row,>(place: RefObject<HTMLElement | null>, all: readonly Column<Row>[]) => {
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
