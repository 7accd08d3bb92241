/** Differences between registries and our operations, and resolving many at once. */
import { useState } from 'react';
import { useMutation } from 'urql';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { money } from '../amounts.ts';
import { Button } from '../parts/button.tsx';
import { ChosenChip, NoRows, ResolvedChips } from '../parts/filters.tsx';
import { ActButton, ActForm, type Closable } from '../parts/act-form.tsx';
import { TextField } from '../parts/fields.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { type Outcome, useRefusalText } from '../parts/outcome.tsx';
import type { Column } from '../parts/table.tsx';
import { Id, Moment, ObjectLink } from '../parts/texts.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { useReconciliationWords, type ReconciliationWords } from '../words/reconciliation.ts';
import { useWords, type Words } from '../words/words.ts';

type Row = graph.DifferencesQuery['reconciliationDifferences']['nodes'][number];

const OperationOf = ({ row }: { readonly row: Row }) => {
  const own = useReconciliationWords();
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
  const own = useReconciliationWords();
  const { locale } = useWords();
  const { kind, note } = row;
  const statuses: Readonly<Record<string, string>> = own.sideStatuses;
  const textOf = (side: Row['here']): string => {
    if (!side) return own.absent;
    const status = statuses[side.status] ?? side.status;
    return kind === 'status_differs'
      ? `${money(side.amount, side.currency, locale)}, ${status}`
      : money(side.amount, side.currency, locale);
  };
  return (
    <span className="two">
      <span>{own.sides.atBank(textOf(row.atBank))}</span>
      <span>{own.sides.here(textOf(row.here))}</span>
      {note !== null && <span className="quiet">{note}</span>}
    </span>
  );
};

const columnsOf = (
  words: Words,
  own: ReconciliationWords,
  choose: Column<Row>['cell'],
): readonly Column<Row>[] => [
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

const StateChips = () => {
  const own = useReconciliationWords();
  const words = useWords();
  const { search } = useAddress();
  return (
    <div className="chips" role="group" aria-label={words.filters.status}>
      <ResolvedChips />
      {search.code !== undefined && (
        <ChosenChip field="code" text={`${own.ofRun} ${search.code.slice(0, 8)}`} />
      )}
    </div>
  );
};

const useChosen = (rows: readonly Row[] | undefined) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const open = (rows ?? []).filter(({ resolvedAt }) => resolvedAt === null);
  const toggle = (id: string): void => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };
  return {
    chosen: open.filter(({ id }) => ids.has(id)),
    isAll: open.length > 0 && open.every(({ id }) => ids.has(id)),
    isChosen: (id: string): boolean => ids.has(id),
    toggle,
    all: () => setIds(new Set(open.map(({ id }) => id))),
    none: () => setIds(new Set()),
    canChoose: open.length > 0,
  };
};

const ChooseBar = ({
  choice,
  resolve,
}: {
  readonly choice: ReturnType<typeof useChosen>;
  readonly resolve: () => void;
}) => {
  const own = useReconciliationWords();
  if (!choice.canChoose) return null;
  return (
    <div className="acts">
      <Button press={choice.isAll ? choice.none : choice.all}>
        {choice.isAll ? own.chooseNone : own.chooseAll}
      </Button>
      {choice.chosen.length > 0 && (
        <ActButton permission="reconciliationDifferenceResolve" isMain onPress={resolve}>
          {own.resolve(choice.chosen.length)}
        </ActButton>
      )}
    </div>
  );
};

// Resolves differences one after another with one reason; resolved ones stay resolved.

interface Difference {
  readonly id: string;
  readonly merchantId: string | null;
}

export const ResolveDialog = ({
  rows,
  close,
}: Closable & { readonly rows: readonly Difference[] }) => {
  const { alert } = useWords();
  const own = useReconciliationWords();
  const [note, setNote] = useState('');
  const [done, setDone] = useState(0);
  const refusalText = useRefusalText();
  const [, resolve] = useMutation(graph.ResolveDifference);
  const act = async (): Promise<Outcome> => {
    for (const [index, { id, merchantId }] of rows.entries()) {
      const { data, error } = await resolve({ merchantId, id, note: note.trim() });
      const result = data?.reconciliationDifferenceResolve;
      if (result?.__typename !== 'ReconciliationDifference')
        return {
          refused: own.partly(index, rows.length, refusalText(result, error)),
        };
      setDone(index + 1);
    }
    return { done: own.resolved(rows.length) };
  };
  return (
    <ActForm
      title={own.resolve(rows.length)}
      consequence={own.resolveText(rows.length)}
      isReady={note.trim() !== '' && note.trim().length <= 500}
      close={close}
      act={act}
    >
      <TextField label={alert.note} value={note} set={setNote} />
      <progress max={rows.length} value={done} aria-label={own.resolve(rows.length)} />
    </ActForm>
  );
};

export const DifferencesPart = () => {
  const words = useWords();
  const own = useReconciliationWords();
  const { search, mode, merchantId } = useAddress();
  const isResolved = search.status === 'resolved';
  const runId = search.code ?? null;
  const asked = usePage(graph.Differences, { runId, mode, resolved: isResolved, merchantId });
  useFollow(asked.again, { lists: ['reconciliation_differences'] });
  const choice = useChosen(asked.rows);
  const [open, setOpen] = useState<readonly Row[] | null>(null);
  const choose = ({ id, kind, resolvedAt }: Row) =>
    resolvedAt === null && (
      <input
        type="checkbox"
        className="choose"
        aria-label={`${own.choose}: ${own.kinds[kind]} ${id.slice(-8)}`}
        checked={choice.isChosen(id)}
        onChange={() => choice.toggle(id)}
      />
    );
  return (
    <>
      <StateChips />
      <ChooseBar choice={choice} resolve={() => setOpen(choice.chosen)} />
      <Listing
        name="differences"
        label={own.tabs.differences}
        asked={asked}
        columns={columnsOf(words, own, choose)}
        empty={
          <NoRows title={own.empty} text={own.emptyText} isNarrow={runId !== null || isResolved} />
        }
      />
      {open && (
        <ResolveDialog
          rows={open}
          close={() => {
            setOpen(null);
            choice.none();
            asked.again();
          }}
        />
      )}
    </>
  );
};
