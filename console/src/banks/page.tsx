/** The health of banks, by bank and method, for platform operators. */
import { useMemo } from 'react';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, useAddress } from '../address.ts';
import { shortPercent, wholeNumber } from '../format.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Status, type Tone, Moment, PageHead, Sparkline } from '../parts/texts.tsx';
import { figure, Skeleton, Table, type Column } from '../parts/table.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { usePermission } from '../viewer.tsx';
import { useBankWords } from '../words/banks.ts';
import { useWords } from '../words/words.ts';

type Health = graph.BankHealthOfQuery['bankHealth'];
type Row = Health['rows'][number];
type Breaker = Health['breakers'][number];

const spans = ['6', '24', '48'] as const;
const again_ms = 15_000;
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

const useNames = () => {
  const { operations, methods } = useBankWords();
  return ({ operation, method }: Row): string =>
    method ? `${operations[operation]}, ${methods[method]}` : operations[operation];
};

const useColumns = (health: Health): readonly Column<Row>[] => {
  const words = useBankWords();
  const { locale, payment } = useWords();
  const nameOf = useNames();
  return useMemo(() => {
    const count = (value: number): string => wholeNumber(value, locale);
    const ms = (value: number | null | undefined): string =>
      value === null || value === undefined ? '—' : words.ms(count(value));
    return [
      { name: payment.bank, cell: ({ connector }) => connector },
      { name: words.what, cell: nameOf },
      {
        name: words.state,
        cell: (row) => {
          const state = stateOf(row, health.breakers);
          return <Status tone={tones[state]}>{words.states[state]}</Status>;
        },
      },
      {
        name: words.rate,
        ...figure,
        cell: (row) => shortPercent(row.successRateBps / 1e4, locale, 2),
      },
      { name: words.calls, ...figure, isWide: true, cell: ({ calls }) => count(calls) },
      { name: words.failures, ...figure, isWide: true, cell: ({ failures }) => count(failures) },
      { name: words.p50, ...figure, isWide: true, cell: ({ p50Ms }) => ms(p50Ms) },
      { name: words.p95, ...figure, cell: ({ p95Ms }) => ms(p95Ms) },
      { name: words.measured, ...figure, isWide: true, cell: ({ measured }) => count(measured) },
      {
        name: words.over(health.intervalMinutes),
        isWide: true,
        cell: (row) => <Sparkline values={valuesOf(row, health)} />,
      },
    ];
  }, [health, words, locale, nameOf]);
};

const LineTable = ({ rows }: { readonly rows: readonly Row[] }) => {
  const words = useBankWords();
  const { locale, payment } = useWords();
  const nameOf = useNames();
  const lines = rows
    .flatMap((row) => row.series.map((point) => ({ row, ...point })))
    .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  return (
    <details>
      <summary>{words.table}</summary>
      <Table
        label={words.table}
        columns={[
          { name: words.time, cell: ({ at }) => <Moment at={at} /> },
          { name: payment.bank, cell: ({ row }) => row.connector },
          { name: words.what, cell: ({ row }) => nameOf(row) },
          { name: words.calls, ...figure, cell: ({ calls }) => wholeNumber(calls, locale) },
          {
            name: words.failures,
            ...figure,
            cell: ({ failures }) => wholeNumber(failures, locale),
          },
        ]}
        rows={lines}
        keyOf={({ row, at }) => `${row.connector} ${row.operation} ${row.method} ${at}`}
      />
    </details>
  );
};

const Breakers = ({ breakers }: { readonly breakers: readonly Breaker[] }) => {
  const { payment } = useWords();
  const words = useBankWords();
  if (breakers.length === 0) return null;
  return (
    <section>
      <h2 className="part-title">{words.breakers}</h2>
      <Table
        label={words.breakers}
        columns={[
          { name: payment.bank, cell: ({ connector }) => connector },
          { name: words.process, cell: ({ process }) => process },
          {
            name: words.state,
            cell: ({ state }) => <Status tone={breakerTones[state]}>{words.breaker[state]}</Status>,
          },
          { name: words.since, cell: ({ since }) => (since ? <Moment at={since} /> : '—') },
          { name: words.seen, cell: ({ seenAt }) => <Moment at={seenAt} /> },
        ]}
        rows={breakers}
        keyOf={({ connector, process }) => `${connector} ${process}`}
      />
    </section>
  );
};

const Drawn = ({ health }: { readonly health: Health }) => {
  const words = useBankWords();
  const { sections } = useWords();
  const { mode } = useAddress();
  const columns = useColumns(health);
  const rows = health.rows.filter((row) => row.mode === mode);
  if (rows.length === 0) return <Empty title={words.empty} text={words.emptyText} />;
  return (
    <>
      <Table
        label={sections.banks}
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
  const words = useBankWords();
  const { search, set } = useAddress();
  const span = listOf(search.span, spans)[0] ?? '6';
  const { data, error, again } = useAsk(graph.BankHealthOf, { hours: Number(span) });
  useFollow(again, { events: false, every_ms: again_ms });
  const health = data?.bankHealth;
  return (
    <>
      <div className="filter-row">
        <PickField
          label={words.span}
          value={span}
          set={(value) => set({ span: value })}
          options={spans.map((one) => [one, words.spans[one]] as const)}
        />
      </div>
      <p className="quiet">{words.explained}</p>
      <p className="quiet">{words.measuredOn}</p>
      {error && !health && <Failure error={error} again={again} />}
      {!error && !health && <Skeleton />}
      {health && <Drawn health={health} />}
    </>
  );
};

export const BanksPage = () => {
  const words = useWords();
  const { granted } = usePermission('bankHealth');
  return (
    <>
      <PageHead name={words.sections.banks} />
      {granted ? <Asked /> : <Empty title={words.acts.platform} />}
    </>
  );
};
