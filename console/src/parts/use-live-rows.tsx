/**
 * A list's rows with live changes: changed rows are replaced in place; new ones slide in at the top
 * of the first page, or are counted while the top is out of view.
 */
import { useEffect, useEffectEvent, useState } from 'react';
import { useAddress } from '../address.ts';
import { listenChanges, type LiveChange, type LiveObjects } from '../graph/live.ts';
import { words } from '../words/words.ts';
import { objectKey } from './table.tsx';

type Kind = keyof LiveObjects;

const compare = (one: string, other: string): number => (one < other ? 1 : one > other ? -1 : 0);

/**
 * The order of a list: newest first, then by id. Events arrive nearly so; those of one moment may
 * be swapped.
 */
const byTime = (one: LiveObjects[Kind], other: LiveObjects[Kind]): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);

const flash_ms = 1_200;
/** Two pages: laying out more rows is noticeable under load. */
const rows_max = 100;

interface Arrived<Row> {
  readonly row: Row;
  readonly isNew: boolean;
}

interface State<Row> {
  /** The rows of the query; a new identity means a new answer. */
  readonly base: readonly Row[] | undefined;
  /** What came while the list was being queried: the answer may be older. */
  readonly sinceAsked: readonly Arrived<Row>[];
  /** What events have brought, by key: later versions of rows, and new rows. */
  readonly newer: ReadonlyMap<string, Row>;
  /** The new rows that are counted and not shown yet. */
  readonly waiting: ReadonlySet<string>;
  readonly changed: ReadonlySet<string>;
}

const fresh = <Row,>(base: readonly Row[] | undefined): State<Row> => ({
  base,
  sinceAsked: [],
  newer: new Map(),
  waiting: new Set(),
  changed: new Set(),
});

const keyed = <Row extends LiveObjects[Kind]>(rows: readonly Row[] = []) =>
  rows.map((row) => [objectKey(row), row] as const);

const isAtTop = (): boolean => window.scrollY < 80;

const apply = <Row extends LiveObjects[Kind]>(
  state: State<Row>,
  changes: readonly Arrived<Row>[],
  fits: (row: Row) => boolean,
): State<Row> => {
  const isShown = isAtTop();
  const base = new Map(keyed(state.base));
  const newer = new Map(state.newer);
  const waiting = new Set(isShown ? [] : state.waiting);
  const changed = new Set(state.changed);
  const oldest = state.base?.at(-1);
  // A row that should be there is one whose first event was missed.
  const isOnPage = (row: Row): boolean => oldest !== undefined && byTime(row, oldest) < 0;
  for (const { row, isNew } of changes) {
    const key = objectKey(row);
    const isKnown = base.has(key) || newer.has(key);
    if (!isKnown && !(fits(row) && (isNew || isOnPage(row)))) continue;
    if (!isKnown && !isShown) waiting.add(key);
    newer.set(key, row);
    changed.add(key);
  }
  // At the top nothing waits: of the new rows the older ones go.
  const arrived = isShown ? [...newer.values()].filter((row) => !base.has(objectKey(row))) : [];
  for (const row of arrived.toSorted(byTime).slice(rows_max)) newer.delete(objectKey(row));
  return { ...state, newer, waiting, changed };
};

/**
 * A list with its live changes, as `Listing` takes it. `fits` tells whether a new row of the
 * merchants that are shown belongs to it; `fresh` are those that are not shown yet.
 */
export const useLiveRows = <
  Of extends Kind,
  List extends {
    readonly rows: readonly LiveObjects[Of][] | undefined;
    /** Whether an answer is under way. */
    readonly fetching: boolean;
  },
>(
  kind: Of,
  asked: List,
  fits: (row: LiveObjects[Of]) => boolean,
) => {
  const { search, merchantId } = useAddress();
  const [kept, setState] = useState<State<LiveObjects[Of]>>(() => fresh(asked.rows));
  const isFirstPage = search.after === undefined && search.before === undefined;
  const belongs = (row: LiveObjects[Of]): boolean =>
    isFirstPage && (merchantId === null || row.merchantId === merchantId) && fits(row);
  const ofAnswer = (state: typeof kept): typeof kept =>
    state.base === asked.rows ? state : apply(fresh(asked.rows), state.sinceAsked, belongs);
  const state = ofAnswer(kept);
  const take = useEffectEvent((changes: readonly LiveChange[]) => {
    const isOf = (change: LiveChange): change is LiveChange & { readonly row: LiveObjects[Of] } =>
      change.kind === kind;
    const own = changes.filter(isOf);
    setState((given) => {
      const before = ofAnswer(given);
      const sinceAsked = asked.fetching ? [...before.sinceAsked, ...own].slice(-rows_max) : [];
      return { ...apply(before, own, belongs), sinceAsked };
    });
  });
  const settle = useEffectEvent(() => setState(ofAnswer));
  useEffect(() => settle(), [asked.rows]);
  useEffect(() => listenChanges((changes) => take(changes)), []);
  useEffect(() => {
    if (state.changed.size === 0) return undefined;
    const timer = setTimeout(
      () => setState((before) => ({ ...before, changed: new Set() })),
      flash_ms,
    );
    return () => clearTimeout(timer);
  }, [state.changed]);
  const rows = [...new Map([...keyed(state.base), ...state.newer])].flatMap(([key, row]) =>
    state.waiting.has(key) ? [] : [row],
  );
  const hasNew = rows.length > (state.base?.length ?? 0);
  const ordered = hasNew ? rows.toSorted(byTime) : rows;
  const show = (): void => {
    window.scrollTo({ top: 0 });
    setState((before) => ({ ...before, waiting: new Set() }));
  };
  return {
    asked: { ...asked, rows: asked.rows && ordered.slice(0, rows_max), changed: state.changed },
    fresh: { count: state.waiting.size, show },
  };
};

export const Fresh = ({ count, show }: { readonly count: number; readonly show: () => void }) => {
  if (count === 0) return null;
  return (
    <button type="button" className="chip fresh" onClick={show}>
      {words.live.fresh(count)}
    </button>
  );
};
