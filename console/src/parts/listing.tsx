/** A list: its rows, or why there are none, and its pages. */
import type { ReactNode } from 'react';
import { ExportButton } from './export-button.tsx';
import { Pager, type PageInfo } from './pager.tsx';
import { Failure } from './states.tsx';
import { Skeleton, Table, type Column } from './table.tsx';
import type { AskedList } from './use-ask.ts';

interface ListingProps<Row> {
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
  readonly onOpen?: (row: Row) => void;
  readonly openKey?: string | null;
  readonly changed?: ReadonlySet<string>;
}

/** The list. */
export const Listing = <Row extends object>({
  label,
  asked,
  columns,
  keyOf,
  empty,
  ...rest
}: ListingProps<Row>) => {
  const { error, again, rows, pageInfo, list } = asked;
  if (!rows) return error ? <Failure error={error} again={again} /> : <Skeleton />;
  return (
    <>
      {list && rows.length > 0 && <ExportButton {...list} />}
      {rows.length === 0 ? (
        empty
      ) : (
        <Table label={label} columns={columns} rows={rows} keyOf={keyOf} {...rest} />
      )}
      {pageInfo && <Pager info={pageInfo} />}
    </>
  );
};
