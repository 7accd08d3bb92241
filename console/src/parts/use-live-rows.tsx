/**
 * A list's rows with live changes: changed rows are replaced in place; new ones slide in at the top
 * of the first page, or are counted while the top is out of view.
 */
import { useEffect, useRef, useState } from 'react';
import { useAddress } from '../address.ts';
import { listenChanges, type LiveChange, type LiveObjects } from '../graph/live.ts';
import { words } from '../words/words.ts';
import { objectKey } from './table.tsx';

/** The order of a list: newest first, then by id. */
interface Dated {
  readonly merchantId: string;
  readonly id: string;
  readonly createdAt: string;
}

const compare = (one: string, other: string): number => (one < other ? 1 : one > other ? -1 : 0);

/** Events arrive nearly in row order; those of one moment may be swapped. */
const byTime = (one: Dated, other: Dated): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);

type Kind = keyof LiveObjects;

interface Asked<Row> {
  /** The rows of the query; a new identity means a new answer. */
  readonly rows: readonly Row[] | undefined;
}

interface Options<Of extends Kind> extends Asked<LiveObjects[Of]> {
  readonly kind: Of;
  readonly fits: (row: LiveObjects[Of]) => boolean;
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

/**
 * A list with its live changes, as `Listing` takes it. `fits` tells whether a new row of the
 * merchants that are shown belongs to it; `fresh` are those that are not shown yet.
 */
export const useLiveRows = <Of extends Kind, List extends Asked<LiveObjects[Of]>>(
  kind: Of,
  asked: List,
  fits: Options<Of>['fits'],
) => {
  const { search, merchantId } = useAddress();
  const [kept, setState] = useState<State<LiveObjects[Of]>>(() => fresh(asked.rows));
  const state = kept.base === asked.rows ? kept : fresh(asked.rows);
  const isFirstPage = search.after === undefined && search.before === undefined;
  const ofAddress: Options<Of> = {
    ...asked,
    kind,
    fits: (row) =>
      isFirstPage && (merchantId === null || row.merchantId === merchantId) && fits(row),
  };
  const latest = useRef(ofAddress);
  latest.current = ofAddress;
  useEffect(
    () =>
      listenChanges((changes) => {
        setState((before) => apply(before, changes, latest.current));
      }),
    [],
  );
  useEffect(() => {
    if (state.changed.size === 0) return undefined;
    const timer = setTimeout(
      () => setState((before) => ({ ...before, changed: new Set() })),
      flash_ms,
    );
    return () => clearTimeout(timer);
  }, [state.changed]);
  const seen = new Set<string>();
  const rows = [...state.arrived, ...(state.base ?? [])].flatMap((row) => {
    const key = objectKey(row);
    if (seen.has(key)) return [];
    seen.add(key);
    return [state.newer.get(key) ?? row];
  });
  const ordered = state.arrived.length > 0 ? rows.toSorted(byTime) : rows;
  const show = (): void => {
    window.scrollTo({ top: 0 });
    setState((before) => ({
      ...before,
      arrived: [...before.waiting, ...before.arrived],
      waiting: [],
    }));
  };
  return {
    asked: { ...asked, rows: asked.rows && ordered.slice(0, rows_max), changed: state.changed },
    fresh: { count: state.waiting.length, show },
  };
};

const apply = <Of extends Kind>(
  kept: State<LiveObjects[Of]>,
  changes: readonly LiveChange[],
  { kind, rows, fits }: Options<Of>,
): State<LiveObjects[Of]> => {
  const isOf = (change: LiveChange): change is LiveChange & { readonly row: LiveObjects[Of] } =>
    change.kind === kind;
  const before = kept.base === rows ? kept : fresh(rows);
  const all = [...before.arrived, ...before.waiting, ...(before.base ?? [])];
  const known = new Set(all.map(objectKey));
  const newer = new Map(before.newer);
  const changed = new Set(before.changed);
  const arrived: LiveObjects[Of][] = [];
  for (const { row, isNew } of changes.filter(isOf)) {
    const key = objectKey(row);
    if (known.has(key)) {
      newer.set(key, row);
      changed.add(key);
    } else if (isNew && fits(row)) {
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

export const Fresh = ({ count, show }: { readonly count: number; readonly show: () => void }) => {
  if (count === 0) return null;
  return (
    <button type="button" className="chip fresh" onClick={show}>
      {words.live.fresh(count)}
    </button>
  );
};
