/** Every list: its columns and its file, its rows or why there are none, and its pages. */
import { useMemo, type ReactNode } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useAddress, type Search } from '../address.ts';
import { words } from '../words/words.ts';
import { AddBar, actButton, type Act, type NoFields, type Specs } from './act-form.tsx';
import { Button } from './button.tsx';
import { ColumnsButton, useColumns } from './columns.tsx';
import { ExportButton } from './export-button.tsx';
import { Waiting } from './states.tsx';
import { Table, type Column } from './table.tsx';
import { useAsk, type AskedList } from './use-ask.ts';
import type { Followed } from './use-follow.ts';

/** Without a previous page: of a list that is read in one direction. */
interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
  readonly hasPreviousPage?: boolean;
  readonly startCursor?: string | null;
}

const page_rows = 50;

const usePageArguments = () => {
  const { after, before } = useAddress().search;
  if (before !== undefined) return { last: page_rows, before };
  return after === undefined ? { first: page_rows } : { first: page_rows, after };
};

/**
 * Queries the page of a list that the address names; gives it as `Listing` takes it. `follow` tells
 * what may change it.
 */
export const usePage = <Row, Variables extends AnyVariables>(
  query: TypedDocumentNode<
    Readonly<Record<string, { readonly nodes: readonly Row[]; readonly pageInfo: PageInfo }>>,
    Variables
  >,
  variables: Variables,
  follow?: Followed,
) => {
  const asked = { ...variables, ...usePageArguments() };
  const { data, error, fetching, list } = useAsk(query, asked, { follow });
  const [connection] = Object.values(data ?? {});
  return { error, fetching, list, rows: connection?.nodes, pageInfo: connection?.pageInfo };
};

const PageButton = ({
  name,
  isOff,
  to,
}: {
  readonly name: string;
  readonly isOff: boolean;
  readonly to: Pick<Search, 'after' | 'before'>;
}) => {
  const { set } = useAddress();
  return (
    <Button isOff={isOff} press={() => set({ after: undefined, before: undefined, ...to })}>
      {name}
    </Button>
  );
};

export const Pager = ({
  info,
  names = {},
}: {
  readonly info: PageInfo;
  readonly names?: { readonly first?: string; readonly next?: string };
}) => {
  const { after, before } = useAddress().search;
  const { hasNextPage, endCursor, hasPreviousPage, startCursor = null } = info;
  const isFirst = after === undefined && before === undefined;
  if (isFirst && !hasNextPage) return null;
  const hasNewer = !isFirst && (hasPreviousPage === true || after !== undefined);
  return (
    <nav className="pager" aria-label={words.pages}>
      <PageButton name={names.first ?? words.first} isOff={isFirst} to={{}} />
      {hasPreviousPage !== undefined && (
        <PageButton
          name={words.previous}
          isOff={!hasNewer || startCursor === null}
          to={startCursor === null ? {} : { before: startCursor }}
        />
      )}
      <PageButton
        name={names.next ?? words.next}
        isOff={!hasNextPage}
        to={endCursor === null ? {} : { after: endCursor }}
      />
    </nav>
  );
};

interface ListingProps<Row, Add extends Specs, Of extends Specs> {
  /** Under which the person's choice of columns is kept. */
  readonly name: string;
  readonly label: string;
  readonly asked: {
    readonly error?: Error | undefined;
    /** Undefined until the first answer. */
    readonly rows: readonly Row[] | undefined;
    readonly pageInfo?: PageInfo | undefined;
    /** Given where the whole list can be exported. */
    readonly list?: AskedList;
    readonly changed?: ReadonlySet<string>;
  };
  readonly columns: () => readonly Column<Row>[];
  /** Adds to the list, above it. */
  readonly add?: Act<Add>;
  /** What is done with a row, in a column. */
  readonly actOf?: (row: Row) => Act<Of> | false;
  /** Without it the id. */
  readonly keyOf?: (row: Row) => string;
  readonly empty: ReactNode;
  readonly tools?: ReactNode;
  /** Whether a press puts the row's key into the address, where its object is open. */
  readonly opens?: boolean;
  readonly onOpen?: (row: Row) => void;
  readonly openKey?: string | null;
}

export const Listing = <
  Row extends { readonly id: string },
  Add extends Specs = NoFields,
  Of extends Specs = NoFields,
>({
  name,
  label,
  asked: { error, rows, pageInfo, list, changed },
  columns,
  add,
  actOf,
  keyOf = ({ id }) => id,
  empty,
  tools,
  opens = false,
  ...rest
}: ListingProps<Row, Add, Of>) => {
  const { search, set } = useAddress();
  const own = useMemo(columns, [columns, words.language]);
  const cell = (row: Row): ReactNode => {
    const act = actOf?.(row);
    return act && actButton(act);
  };
  const all = actOf ? [...own, { name: words.columns.action, cell }] : own;
  const { shown, ...choice } = useColumns(name, all);
  return (
    <>
      {add && <AddBar {...add} />}
      {/* It has its place before the rows come, so that they do not move down. */}
      {(rows ?? !error) && (
        <div className="part-head">
          {tools}
          <ColumnsButton {...choice} />
          {list && <ExportButton {...list} />}
        </div>
      )}
      {!rows && <Waiting error={error} />}
      {rows?.length === 0 && empty}
      {rows && rows.length > 0 && (
        <Table
          label={label}
          columns={shown}
          rows={rows}
          keyOf={keyOf}
          changed={changed}
          {...(opens && {
            openKey: search.open ?? null,
            onOpen: (row: Row) => set({ open: keyOf(row) }),
          })}
          {...rest}
        />
      )}
      {pageInfo && <Pager info={pageInfo} />}
    </>
  );
};
