/** The health of banks, by bank and method, for platform operators. */
import { useMemo } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { shortPercent, wholeNumber } from '../format.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty, OwnPage, Waiting } from '../parts/states.tsx';
import { Status, type Tone, Moment, Sparkline } from '../parts/texts.tsx';
import { figure, Table, type Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { bankWords as own } from '../words/banks.ts';
import { sharedWords } from '../words/shared.ts';
import { keysOf, optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';

type Health = graph.BankHealthOfQuery['bankHealth'];
type Row = Health['rows'][number];
type Breaker = Health['breakers'][number];

const follow = { events: false, every_ms: 15_000 } as const;
/** Below it a bank is unsteady, in hundredths of a percent. */
const steady_bps = 9_900;

type State = 'answers' | 'unsteady' | 'open' | 'half_open';
const tones: Readonly<Record<State, Tone>> = {
  answers: 'good',
  unsteady: 'waiting',
  open: 'bad',
  half_open: 'moving',
};
const breakerTones = { closed: 'good', open: 'bad', half_open: 'moving' } as const;

/** A row's state: the worst of its bank's breakers, or else the rate of answers. */
const stateOf = ({ connector, successRateBps }: Row, breakers: readonly Breaker[]): State => {
  const states = breakers.flatMap((one) => (one.connector === connector ? [one.state] : []));
  if (states.includes('open')) return 'open';
  if (states.includes('half_open')) return 'half_open';
  return successRateBps < steady_bps ? 'unsteady' : 'answers';
};

/** The calls of every interval of the span, including empty ones. */
const valuesOf = ({ series }: Row, { from, intervalMinutes }: Health): readonly number[] => {
  const step_ms = intervalMinutes * 60_000;
  const start_ms = Date.parse(from);
  const values = Array.from(
    { length: Math.max(Math.ceil((Date.now() - start_ms) / step_ms), 1) },
    () => 0,
  );
  for (const { at, calls } of series) {
    const place = Math.floor((Date.parse(at) - start_ms) / step_ms);
    if (place >= 0 && place < values.length) values[place] = calls;
  }
  return values;
};

const nameOf = ({ operation, method }: Row): string =>
  method ? `${own.operations[operation]}, ${own.methods[method]}` : own.operations[operation];

const msText = (value: number | null | undefined): string =>
  value === null || value === undefined ? '—' : own.ms(wholeNumber(value));

const columnsOf = (health: Health): readonly Column<Row>[] => [
  { name: words.payment.bank, cell: ({ connector }) => connector },
  { name: own.what, cell: nameOf },
  {
    name: own.state,
    cell: (row) => {
      const state = stateOf(row, health.breakers);
      return <Status tone={tones[state]}>{own.states[state]}</Status>;
    },
  },
  { name: own.rate, ...figure, cell: (row) => shortPercent(row.successRateBps / 1e4, 2) },
  { name: own.calls, ...figure, isWide: true, cell: ({ calls }) => wholeNumber(calls) },
  { name: own.failures, ...figure, isWide: true, cell: ({ failures }) => wholeNumber(failures) },
  { name: own.p50, ...figure, isWide: true, cell: ({ p50Ms }) => msText(p50Ms) },
  { name: own.p95, ...figure, cell: ({ p95Ms }) => msText(p95Ms) },
  { name: own.measured, ...figure, isWide: true, cell: ({ measured }) => wholeNumber(measured) },
  {
    name: own.over(health.intervalMinutes),
    isWide: true,
    cell: (row) => <Sparkline values={valuesOf(row, health)} />,
  },
];

const LineTable = ({ rows }: { readonly rows: readonly Row[] }) => {
  const lines = rows
    .flatMap((row) => row.series.map((point) => ({ row, ...point })))
    .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  return (
    <details>
      <summary>{own.table}</summary>
      <Table
        label={own.table}
        columns={[
          { name: own.time, cell: ({ at }) => <Moment at={at} /> },
          { name: words.payment.bank, cell: ({ row }) => row.connector },
          { name: own.what, cell: ({ row }) => nameOf(row) },
          { name: own.calls, ...figure, cell: ({ calls }) => wholeNumber(calls) },
          { name: own.failures, ...figure, cell: ({ failures }) => wholeNumber(failures) },
        ]}
        rows={lines}
        keyOf={({ row, at }) => `${row.connector} ${row.operation} ${row.method} ${at}`}
      />
    </details>
  );
};

const Breakers = ({ breakers }: { readonly breakers: readonly Breaker[] }) => {
  if (breakers.length === 0) return null;
  return (
    <section>
      <h2 className="part-title">{own.breakers}</h2>
      <Table
        label={own.breakers}
        columns={[
          { name: words.payment.bank, cell: ({ connector }) => connector },
          { name: own.process, cell: ({ process }) => process },
          {
            name: own.state,
            cell: ({ state }) => <Status tone={breakerTones[state]}>{own.breaker[state]}</Status>,
          },
          { name: own.since, cell: ({ since }) => (since ? <Moment at={since} /> : '—') },
          { name: own.seen, cell: ({ seenAt }) => <Moment at={seenAt} /> },
        ]}
        rows={breakers}
        keyOf={({ connector, process }) => `${connector} ${process}`}
      />
    </section>
  );
};

const Drawn = ({ health }: { readonly health: Health }) => {
  const { mode } = useAddress();
  const columns = useMemo(() => columnsOf(health), [health, words.language]);
  const rows = health.rows.filter((row) => row.mode === mode);
  if (rows.length === 0) return <Empty title={own.empty} text={sharedWords.longer} />;
  return (
    <>
      <Table
        label={words.sections.banks}
        columns={columns}
        rows={rows}
        keyOf={({ connector, operation, method }) => `${connector} ${operation} ${method}`}
      />
      <LineTable rows={rows} />
      {mode === 'live' && <Breakers breakers={health.breakers} />}
    </>
  );
};

const Asked = () => {
  const { search, set } = useAddress();
  const span = listOf(search.span, keysOf(own.spans))[0] ?? '6';
  const hours = Number(span);
  const { data, error } = useAsk(graph.BankHealthOf, { hours }, { follow });
  const health = data?.bankHealth;
  return (
    <>
      <div className="filter-row">
        <PickField
          label={words.columns.period}
          value={span}
          set={(value) => set({ span: value })}
          options={optionsOf(own.spans)}
        />
      </div>
      <p className="quiet">{own.explained}</p>
      <p className="quiet">{own.measuredOn}</p>
      {!health && <Waiting error={error} />}
      {health && <Drawn health={health} />}
    </>
  );
};

export const BanksPage = () => (
  <OwnPage permission="bankHealth" name={words.sections.banks}>
    <Asked />
  </OwnPage>
);
