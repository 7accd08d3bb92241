/**
 * A list as a table: a click or Enter opens a row, j and k move between rows. On a narrow screen a
 * row is a card.
 */
import { memo, useCallback, useEffect, useRef, type KeyboardEvent, useState } from 'react';
import { useSettings, type Settings } from '../settings.ts';
import { type Column, useFit } from './columns.tsx';
import { useFirstScreen } from './states.tsx';
import { Money, Moment, Status, tones, type ObjectId } from './texts.tsx';
import { useWhoseColumn } from './whose.tsx';

export { extra, figure, type Column } from './columns.tsx';

export const amountColumn = (
  name: string,
): Column<{ readonly amount: number; readonly currency: string }> => ({
  name,
  isNumber: true,
  cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
});

export const statusColumn = <Of extends keyof typeof tones>(
  name: string,
  names: Readonly<Record<Of, string>>,
): Column<{ readonly status: Of }> => ({
  id: 'status',
  name,
  cell: ({ status }) => <Status tone={tones[status]}>{names[status]}</Status>,
});

export const createdColumn = (name: string): Column<{ readonly createdAt: string }> => ({
  id: 'created',
  name,
  cell: ({ createdAt }) => <Moment at={createdAt} />,
});

export const paymentColumn = (
  name: string,
): Column<{ readonly payment: { readonly orderId: string; readonly publicId: string } }> => ({
  id: 'payment',
  name,
  cell: ({ payment }) => (
    <span className="two">
      <span>{payment.orderId}</span>
      <span className="quiet mono">{payment.publicId}</span>
    </span>
  ),
});

/** The key of an object among those of all merchants, as `open` in the address has it. */
export const objectKey = ({ merchantId, id }: ObjectId): string => `${merchantId}/${id}`;

/** The rows that a person has chosen, whatever page they are on. */
export const useChosen = <Row extends { readonly id: string }>() => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map());
  const choose = (rows: readonly Row[]): void =>
    setChosen(new Map(rows.map((row) => [row.id, row])));
  const toggle = (row: Row): void => {
    const rows = [...chosen.values()];
    choose(chosen.has(row.id) ? rows.filter(({ id }) => id !== row.id) : [...rows, row]);
  };
  return { chosen, choose, toggle };
};

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  /** Rows that have just changed, by key. */
  readonly changed?: ReadonlySet<string> | undefined;
  /** The row whose object is open. */
  readonly openKey?: string | null;
}

const moveFocus = (from: HTMLElement, by: 1 | -1): void => {
  const rows = [...(from.closest('table')?.querySelectorAll<HTMLElement>('tbody tr') ?? [])];
  rows[rows.indexOf(from) + by]?.focus();
};

/** j and k work wherever the focus is, except in a field. */
const useRowKeys = () => {
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      if ((event.key !== 'j' && event.key !== 'k') || event.ctrlKey || event.metaKey) return;
      const { activeElement } = document;
      if (activeElement?.matches('input, textarea, select, [role=dialog] *')) return;
      const row = activeElement?.closest<HTMLElement>('tbody tr');
      if (row && table.current?.contains(row)) moveFocus(row, event.key === 'j' ? 1 : -1);
      else table.current?.querySelector<HTMLElement>('tbody tr')?.focus();
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return table;
};

interface RowProps<Row> extends Pick<TableProps<Row>, 'columns'> {
  readonly row: Row;
  readonly opens: boolean;
  readonly isChanged: boolean;
  readonly isOpen: boolean;
  readonly press: (row: Row) => void;
  /** Its words and moments are in their language and zone. */
  readonly settings: Settings;
}

/** One row. It redraws only when the row, its marks or the settings change. */
const TableRow = <Row,>({ row, columns, opens, isChanged, isOpen, press }: RowProps<Row>) => {
  const key = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter') press(row);
    else if (event.key === 'ArrowDown') moveFocus(event.currentTarget, 1);
    else if (event.key === 'ArrowUp') moveFocus(event.currentTarget, -1);
    else return;
    event.preventDefault();
  };
  return (
    <tr
      tabIndex={0}
      data-opens={opens}
      data-changed={isChanged}
      aria-current={isOpen ? 'true' : undefined}
      onClick={({ target, currentTarget }) => {
        // Controls in a row, and what they open, handle their own clicks.
        const isOfRow = target instanceof Element && currentTarget.contains(target);
        if (isOfRow && target.closest('button, a') === null) press(row);
      }}
      onKeyDown={key}
    >
      {columns.map(({ name, isNumber, isWide, isNamed, cell }) => (
        <td
          key={name}
          data-number={isNumber}
          data-wide={isWide}
          data-label={isNamed ? name : undefined}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
  );
};
const KeptRow = memo(TableRow) as typeof TableRow;

/** The table. Keep `columns` stable between renders, so that unchanged rows are not redrawn. */
export const Table = <Row extends object>({
  label,
  columns: own,
  rows,
  keyOf,
  onOpen,
  changed,
  openKey,
}: TableProps<Row>) => {
  useFirstScreen();
  const settings = useSettings();
  const table = useRowKeys();
  const place = useRef<HTMLDivElement>(null);
  const { columns, isTight } = useFit(place, useWhoseColumn(own, rows));
  const latest = useRef(onOpen);
  latest.current = onOpen;
  const press = useCallback((row: Row) => latest.current?.(row), []);
  return (
    <div className="table-place" ref={place}>
      <table className="table" ref={table} aria-label={label} data-tight={isTight}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isWide }) => (
              <th key={name} scope="col" data-number={isNumber} data-wide={isWide}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <KeptRow
                key={key}
                row={row}
                columns={columns}
                opens={onOpen !== undefined}
                isChanged={changed?.has(key) ?? false}
                isOpen={openKey === key}
                press={press}
                settings={settings}
              />
            );
          })}
        </tbody>
      </table>
    </div>
  );
};
