/**
 * A list's rows with live changes: changed rows are replaced in place; new ones slide in at the top
 * of the first page, or are counted while the top is out of view.
 */
import { useEffect, useRef, useState } from 'react';
import { useLive, type LiveChange } from '../graph/live.tsx';
import { useWords } from '../words/words.ts';

/** The order of a list: newest first, then by id. */
interface Dated {
  readonly id: string;
  readonly createdAt: string;
}

const compare = (one: string, other: string): number => (one < other ? 1 : one > other ? -1 : 0);

/** Events arrive nearly in row order; those of one moment may be swapped. */
const byTime = (one: Dated, other: Dated): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);

interface LiveRows<Row> {
  readonly rows: readonly Row[];
  readonly changed: ReadonlySet<string>;
  /** New rows that are not shown yet. */
  readonly waiting: number;
  /** Shows them. */
  readonly show: () => void;
}

interface Options<Row> {
  /** The rows of the query; a new identity means a new answer. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** The row of a change, when its kind is in this list. */
  readonly rowOf: (change: LiveChange) => Row | null;
  /** Whether a new row belongs here. */
  readonly fits: (row: Row) => boolean;
  /** Whether new rows may appear: only on the first page. */
  readonly isFirstPage: boolean;
  /** Queries the list again. */
  readonly again: () => void;
}

const flash_ms = 1_200;
/** Two pages: laying out more rows is noticeable under load. */
const rows_max = 100;

interface State<Row> {
  readonly base: readonly Row[] | undefined;
  readonly arrived: readonly Row[];
  readonly waiting: readonly Row[];
  readonly newer: ReadonlyMap<string, Row>;
  readonly changed: ReadonlySet<string>;
}

const fresh = <Row,>(base: readonly Row[] | undefined): State<Row> => ({
  base,
  arrived: [],
  waiting: [],
  newer: new Map(),
  changed: new Set(),
});

const isAtTop = (): boolean => window.scrollY < 80;

/** The rows, live. */
export const useLiveRows = <Row extends Dated>(options: Options<Row>): LiveRows<Row> => {
  const { listen, epoch } = useLive();
  const [kept, setState] = useState<State<Row>>(() => fresh(options.rows));
  const state = kept.base === options.rows ? kept : fresh(options.rows);
  const latest = useRef(options);
  latest.current = options;
  useEffect(
    () =>
      listen((changes) => {
        setState((before) => apply(before, changes, latest.current));
      }),
    [listen],
  );
  useEffect(() => {
    if (state.changed.size === 0) return undefined;
    const timer = setTimeout(
      () => setState((before) => ({ ...before, changed: new Set() })),
      flash_ms,
    );
    return () => clearTimeout(timer);
  }, [state.changed]);
  useEffect(() => {
    if (epoch > 0) latest.current.again();
  }, [epoch]);
  const { keyOf } = options;
  const seen = new Set<string>();
  const rows = [...state.arrived, ...(state.base ?? [])].flatMap((row) => {
    const key = keyOf(row);
    if (seen.has(key)) return [];
    seen.add(key);
    return [state.newer.get(key) ?? row];
  });
  const ordered = state.arrived.length > 0 ? rows.toSorted(byTime) : rows;
  return {
    rows: ordered.slice(0, rows_max),
    changed: state.changed,
    waiting: state.waiting.length,
    show: () => {
      window.scrollTo({ top: 0 });
      setState((before) => ({
        ...before,
        arrived: [...before.waiting, ...before.arrived],
        waiting: [],
      }));
    },
  };
};

/** The state after some changes. */
const apply = <Row extends Dated>(
  kept: State<Row>,
  changes: readonly LiveChange[],
  { rows, keyOf, rowOf, fits, isFirstPage }: Options<Row>,
): State<Row> => {
  const before = kept.base === rows ? kept : fresh(rows);
  const known = new Set([...before.arrived, ...before.waiting, ...(before.base ?? [])].map(keyOf));
  const newer = new Map(before.newer);
  const changed = new Set(before.changed);
  const arrived: Row[] = [];
  for (const change of changes) {
    const row = rowOf(change);
    if (row === null) continue;
    const key = keyOf(row);
    if (known.has(key)) {
      newer.set(key, row);
      changed.add(key);
    } else if (isFirstPage && change.isNew && fits(row)) {
      known.add(key);
      arrived.unshift(row);
      changed.add(key);
    }
  }
  if (!isAtTop()) return { ...before, newer, changed, waiting: [...arrived, ...before.waiting] };
  const shown = [...arrived, ...before.waiting, ...before.arrived]
    .toSorted(byTime)
    .slice(0, rows_max);
  return { ...before, newer, changed, arrived: shown, waiting: [] };
};

// How many new rows are above while the list is scrolled.

/** The chip that shows them. */
export const Fresh = ({ count, show }: { readonly count: number; readonly show: () => void }) => {
  const { live } = useWords();
  if (count === 0) return null;
  return (
    <button type="button" className="chip fresh" onClick={show}>
      {live.fresh(count)}
    </button>
  );
};
