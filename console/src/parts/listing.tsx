/** Every list: its columns and its file, its rows or why there are none, and its pages. */
import type { ReactNode } from 'react';
import { ExportButton } from './export-button.tsx';
import { Pager, type PageInfo } from './pager.tsx';
import { Failure } from './states.tsx';
import { Skeleton, Table, type Column } from './table.tsx';
import type { AskedList } from './use-ask.ts';
import { ColumnsButton, useColumns } from './use-columns.tsx';

interface ListingProps<Row> {
  /** Under which the person's choice of columns is kept. */
  readonly name: string;
  readonly label: string;
  readonly asked: {
    readonly error?: Error | undefined;
    readonly again: () => void;
    /** Undefined until the first answer. */
    readonly rows: readonly Row[] | undefined;
    readonly pageInfo?: PageInfo | undefined;
    /** Given where the whole list can be exported. */
    readonly list?: AskedList;
  };
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** Beside the choice of columns. */
  readonly tools?: ReactNode;
  readonly onOpen?: (row: Row) => void;
  readonly openKey?: string | null;
  readonly changed?: ReadonlySet<string>;
}

/** The list. */
export const Listing = <Row extends object>({
  name,
  label,
  asked,
  columns,
  keyOf,
  empty,
  tools,
  ...rest
}: ListingProps<Row>) => {
  const { error, again, rows, pageInfo, list } = asked;
  const { shown, ...choice } = useColumns(name, columns);
  if (!rows && error) return <Failure error={error} again={again} />;
  return (
    <>
      {/* It has its place before the rows come, so that they do not move down. */}
      <div className="part-head">
        {tools}
        <ColumnsButton {...choice} />
        {list && <ExportButton {...list} />}
      </div>
      {!rows && <Skeleton />}
      {rows?.length === 0 && empty}
      {rows && rows.length > 0 && (
        <Table label={label} columns={shown} rows={rows} keyOf={keyOf} {...rest} />
      )}
      {pageInfo && <Pager info={pageInfo} />}
    </>
  );
};
