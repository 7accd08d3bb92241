/** Differences between registries and our operations, and resolving many at once. */
import { money } from '../format.ts';
import { useState } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { Button } from '../parts/button.tsx';
import { ChosenChip, NoRows, ResolvedChips } from '../parts/filters.tsx';
import { ActForm, actButton, closeAct, type Closable } from '../parts/act-form.tsx';
import { TextField } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { type Outcome, toldBy, send } from '../parts/outcome.tsx';
import { useChosen, type Column } from '../parts/table.tsx';
import { Id, Moment, ObjectLink } from '../parts/texts.tsx';
import { reconciliationWords as own } from '../words/reconciliation.ts';
import { sharedWords } from '../words/shared.ts';
import { words } from '../words/words.ts';

type Row = graph.DifferencesQuery['reconciliationDifferences']['nodes'][number];

const OperationOf = ({ row }: { readonly row: Row }) => {
  const { operation, operationId, merchantId, reference } = row;
  return (
    <span className="two">
      <span>{own.operations[operation]}</span>
      {operation === 'payment' && operationId !== null && merchantId !== null ? (
        <ObjectLink merchantId={merchantId} id={operationId}>
          {operationId.slice(0, 8)}
        </ObjectLink>
      ) : (
        <Id id={operationId ?? reference ?? ''} />
      )}
    </span>
  );
};

/** What either side has, in the person's words; a resolved difference says how it ended. */
export const DetailOf = ({
  row,
}: {
  readonly row: Pick<Row, 'kind' | 'note' | 'atBank' | 'here'>;
}) => {
  const { kind, note } = row;
  const statuses: Readonly<Record<string, string>> = own.sideStatuses;
  const textOf = (side: Row['here']): string => {
    if (!side) return own.absent;
    const status = statuses[side.status] ?? side.status;
    return kind === 'status_differs'
      ? `${money(side.amount, side.currency)}, ${status}`
      : money(side.amount, side.currency);
  };
  return (
    <span className="two">
      <span>{own.sides.atBank(textOf(row.atBank))}</span>
      <span>{own.sides.here(textOf(row.here))}</span>
      {note !== null && <span className="quiet">{note}</span>}
    </span>
  );
};

const columnsOf = (choose: Column<Row>['cell']): readonly Column<Row>[] => [
  { name: own.choose, cell: choose },
  { name: words.columns.type, cell: ({ kind }) => own.kinds[kind] },
  { name: own.operation, cell: (row) => <OperationOf row={row} /> },
  {
    name: own.detail,
    isWide: true,
    cell: (row) => <DetailOf row={row} />,
  },
  { name: own.found, cell: ({ foundAt }) => <Moment at={foundAt} /> },
];

const ChooseBar = ({
  open,
  chosen,
  choose,
}: {
  readonly open: readonly Row[];
  readonly chosen: readonly Row[];
  readonly choose: (rows: readonly Row[]) => void;
}) => {
  if (open.length === 0) return null;
  const isAll = chosen.length === open.length;
  const close = (): void => {
    choose([]);
    closeAct();
  };
  return (
    <div className="acts">
      <Button press={() => choose(isAll ? [] : open)}>
        {isAll ? sharedWords.chooseNone : own.chooseAll}
      </Button>
      {chosen.length > 0 &&
        actButton({
          permission: 'reconciliationDifferenceResolve',
          isMain: true,
          title: own.resolve(chosen.length),
          dialog: <ResolveDialog rows={chosen} close={close} />,
        })}
    </div>
  );
};

// Resolves differences one after another with one reason; resolved ones stay resolved.

export const ResolveDialog = ({
  rows,
  ...form
}: Partial<Closable> & { readonly rows: readonly Pick<Row, 'id' | 'merchantId'>[] }) => {
  const [note, setNote] = useState('');
  const [done, setDone] = useState(0);
  const act = async (): Promise<Outcome> => {
    for (const [index, { id, merchantId }] of rows.entries()) {
      const outcome = await send(
        graph.ResolveDifference,
        { merchantId, id, note: note.trim() },
        '',
      );
      if (!('done' in outcome)) return { refused: own.partly(index, rows.length, toldBy(outcome)) };
      setDone(index + 1);
    }
    return { done: own.resolved(rows.length) };
  };
  return (
    <ActForm
      title={own.resolve(rows.length)}
      consequence={own.resolveText(rows.length)}
      isReady={note.trim() !== '' && note.trim().length <= 500}
      {...form}
      act={act}
    >
      <TextField label={words.alert.note} value={note} set={setNote} />
      <progress max={rows.length} value={done} aria-label={own.resolve(rows.length)} />
    </ActForm>
  );
};

export const DifferencesPart = () => {
  const { search, mode, merchantId } = useAddress();
  const isResolved = search.status === 'resolved';
  const runId = search.code ?? null;
  const narrowing = { runId, mode, resolved: isResolved, merchantId };
  const asked = usePage(graph.Differences, narrowing, { lists: ['reconciliation_differences'] });
  const choice = useChosen<Row>();
  const open = (asked.rows ?? []).filter(({ resolvedAt }) => resolvedAt === null);
  const chosen = open.filter(({ id }) => choice.chosen.has(id));
  const choose = (row: Row) =>
    row.resolvedAt === null && (
      <input
        type="checkbox"
        className="choose"
        aria-label={`${own.choose}: ${own.kinds[row.kind]} ${row.id.slice(-8)}`}
        checked={choice.chosen.has(row.id)}
        onChange={() => choice.toggle(row)}
      />
    );
  return (
    <>
      <ResolvedChips>
        {runId !== null && <ChosenChip field="code" text={`${own.ofRun} ${runId.slice(0, 8)}`} />}
      </ResolvedChips>
      <ChooseBar open={open} chosen={chosen} choose={choice.choose} />
      <Listing
        name="differences"
        label={own.tabs.differences}
        asked={asked}
        columns={() => columnsOf(choose)}
        empty={<NoRows of={own} isNarrow={runId !== null || isResolved} />}
      />
    </>
  );
};
