/** Registries of acquirers, and their differences from our operations. */
import { Empty, OwnPage } from '../parts/states.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { reconciliationWords as own } from '../words/reconciliation.ts';
import { words } from '../words/words.ts';
import { DifferencesPart } from './differences.tsx';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { plainMoment, wholeNumber } from '../format.ts';
import { AddBar } from '../parts/act-form.tsx';
import { Listing, usePage } from '../parts/listing.tsx';
import { Status, type Tone, Moment } from '../parts/texts.tsx';
import { figure, type Column } from '../parts/table.tsx';
import { UploadDialog } from './upload.tsx';

type Row = graph.RunRowFragment;
const runTones = { open: 'waiting', ready: 'moving', matched: 'good' } as const satisfies Readonly<
  Record<Row['status'], Tone>
>;

const connectorName = (connector: string): string =>
  (own.connectors as Readonly<Record<string, string>>)[connector] ?? connector;

const columnsOf = (): readonly Column<Row>[] => [
  {
    name: words.columns.status,
    // A registry agrees only when nothing of it is open.
    cell: ({ status, openDifferences }) =>
      status === 'matched' && openDifferences > 0 ? (
        <Status tone="bad">{own.differs}</Status>
      ) : (
        <Status tone={runTones[status]}>{own.runStatuses[status]}</Status>
      ),
  },
  { name: own.connector, cell: ({ connector }) => connectorName(connector) },
  {
    name: words.columns.period,
    isWide: true,
    cell: ({ since, until }) => (
      <span className="two">
        {plainMoment(since)} — {plainMoment(until)}
      </span>
    ),
  },
  { name: own.lines, ...figure, cell: ({ lines }) => wholeNumber(lines) },
  { name: own.matched, ...figure, isWide: true, cell: ({ matched }) => wholeNumber(matched) },
  {
    name: own.differences,
    ...figure,
    cell: ({ differences, openDifferences }) => (
      <span className={openDifferences > 0 ? 'bad' : undefined}>
        {openDifferences > 0 && openDifferences < differences
          ? own.openOf(wholeNumber(openDifferences), wholeNumber(differences))
          : wholeNumber(differences)}
      </span>
    ),
  },
  { name: own.by, isWide: true, cell: ({ createdBy }) => createdBy },
  { name: words.columns.createdHer, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const day_ms = 86_400_000;

/** What of ours is too young to be missed in the registry of the latest days, and when it will be looked for. */
const Young = ({ rows }: { readonly rows: readonly Row[] }) => {
  const [newest] = rows
    .filter(({ status }) => status === 'matched')
    .toSorted((one, other) => Date.parse(other.until) - Date.parse(one.until));
  if (!newest || newest.lookedUntil === null || newest.lookedUntil >= newest.until) return null;
  const { lookedUntil, until } = newest;
  const countedFrom = new Date(Date.parse(until) + day_ms).toISOString();
  return <p className="quiet">{own.young(plainMoment(lookedUntil), plainMoment(countedFrom))}</p>;
};

const RunsPart = () => {
  const { set, mode } = useAddress();
  const asked = usePage(graph.Runs, { mode }, { lists: ['reconciliation_differences'] });
  return (
    <>
      <AddBar permission="reconciliationOpen" title={own.upload} dialog={<UploadDialog />} />
      <Young rows={asked.rows ?? []} />
      <Listing
        name="runs"
        label={own.tabs.runs}
        asked={asked}
        columns={columnsOf}
        onOpen={({ id }) => set({ tab: undefined, code: id })}
        empty={<Empty title={own.runsEmpty} text={own.runsEmptyText} />}
      />
    </>
  );
};

export const ReconciliationPage = () => (
  <OwnPage permission="reconciliationRuns" name={words.sections.reconciliation}>
    <Tabs names={own.tabs} parts={{ differences: <DifferencesPart />, runs: <RunsPart /> }} />
  </OwnPage>
);
