/** What a change did: each field before and after, side by side. */
import { Table, type Column } from '../parts/table.tsx';
import { useSubjectWords } from '../words/audit-subjects.ts';
import { useWords } from '../words/words.ts';

type State = Readonly<Record<string, unknown>>;

interface Row {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Every field of both states; those that differ come first. */
const changedFields = (before: State, after: State): readonly Row[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, before: textOf(before[field]), after: textOf(after[field]) }))
    .toSorted(
      (one, other) => Number(one.before === one.after) - Number(other.before === other.after),
    );

/** The table. */
export const Changes = ({
  before,
  after,
}: {
  readonly before: State | null;
  readonly after: State | null;
}) => {
  const { auditLog } = useWords();
  const own = useSubjectWords();
  const value = (text: string, isChanged: boolean) =>
    text === '' ? (
      <span className="quiet">{own.nothing}</span>
    ) : (
      <span className="wrap">{isChanged ? <mark>{text}</mark> : text}</span>
    );
  const columns: readonly Column<Row>[] = [
    { name: own.field, cell: ({ field }) => <code>{field}</code> },
    ...(before
      ? [{ name: auditLog.before, isNamed: true, cell: (row: Row) => value(row.before, false) }]
      : []),
    ...(after
      ? [
          {
            name: auditLog.after,
            isNamed: true,
            cell: (row: Row) => value(row.after, before !== null && row.before !== row.after),
          },
        ]
      : []),
  ];
  const rows = changedFields(before ?? {}, after ?? {});
  if (rows.length === 0) return null;
  return (
    <Table
      label={`${auditLog.before} → ${auditLog.after}`}
      columns={columns}
      rows={rows}
      keyOf={({ field }) => field}
    />
  );
};
