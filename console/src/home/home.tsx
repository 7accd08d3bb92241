/** Home: items that need attention, with links, and the latest activity. */
import { Link } from '@tanstack/react-router';
import * as graph from '../../../schema/generated/console.ts';
import { useAddress, type Search } from '../address.ts';
import { Waiting } from '../parts/states.tsx';
import { figure, objectKey, Table, type Column } from '../parts/table.tsx';
import { PageHead, Sparkline } from '../parts/texts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { useLiveRows } from '../parts/use-live-rows.tsx';
import { PaymentDrawer } from '../payments/shown.tsx';
import { NoPaymentsYet, paymentColumns } from '../payments/list.tsx';
import { NeededList } from './needed.tsx';
import { words } from '../words/words.ts';
import { wholeNumber, money, shortMoney } from '../format.ts';
import { reportWords as own } from '../words/reports.ts';
import { FailureName } from '../words/failures.tsx';
import { type Sums, sumUpTo } from '../reports/chart-numbers.ts';
import { dayBefore, ownZone, spanUpToNow, endOfHour, hoursBefore } from '../reports/spans.ts';
import { rateOf, rateText, sumOf } from '../reports/use-totals.ts';

const shown_days = 14;
const recent_hours = 24;
const again_ms = 30_000;

type DayTotals = graph.TodayQuery['payment'];

const useToday = (): graph.TodayQuery | undefined => {
  const { merchantId, mode } = useAddress();
  const asked = {
    merchantId,
    mode,
    timeZone: ownZone(),
    since: dayBefore(shown_days - 1),
    to: endOfHour(),
    recent: hoursBefore(recent_hours),
    earlier: hoursBefore(2 * recent_hours),
  };
  return useAsk(graph.Today, asked, { follow: { events: false, every_ms: again_ms } }).data;
};

/*
 * Four numbers of today next to the average of the same weekday up to the same time of day, each
 * with its last two weeks.
 */

/** The sums of the four days in one query; undefined until they are loaded. */
const useWeeks = (): Readonly<Record<graph.TotalsOf, readonly Sums[]>> | undefined => {
  const { merchantId, mode } = useAddress();
  const spans = [1, 2, 3, 4].map((week) => spanUpToNow(7 * week));
  const [one, two, three, four] = spans;
  const { data } = useAsk(graph.Weeks, {
    merchantId,
    mode,
    timeZone: ownZone(),
    from1: one?.from ?? '',
    to1: one?.to ?? '',
    from2: two?.from ?? '',
    to2: two?.to ?? '',
    from3: three?.from ?? '',
    to3: three?.to ?? '',
    from4: four?.from ?? '',
    to4: four?.to ?? '',
  });
  if (!data) return undefined;
  const passed_ms = Date.now() - Date.parse(dayBefore(0));
  const sums = (kind: graph.TotalsOf): readonly Sums[] =>
    ([1, 2, 3, 4] as const).map((week) =>
      sumUpTo(data[`${kind}${week}`], Date.parse(spans[week - 1]?.from ?? '') + passed_ms),
    );
  return { payment: sums('payment'), refund: sums('refund'), payout: sums('payout') };
};

type Part = DayTotals['parts'][number];

const sumsOf = ({ rows }: Part): Sums => ({
  succeeded: sumOf(rows, 'succeeded'),
  failed: sumOf(rows, 'failed'),
  moved: sumOf(rows, 'moved'),
});

interface NumberProps {
  readonly name: string;
  readonly parts: readonly Part[] | undefined;
  /** The same weekday of earlier weeks, up to this time. */
  readonly weeks: readonly Sums[] | undefined;
  readonly valueOf: (sums: Sums) => number;
  readonly textOf: (value: number) => string;
  /** The same, unabbreviated. */
  readonly exactOf?: (value: number) => string;
  readonly to: '/payments' | '/refunds' | '/payouts';
  readonly search: Search;
}

const NumberTile = ({
  name,
  parts,
  weeks,
  valueOf,
  textOf,
  exactOf = textOf,
  to,
  search,
}: NumberProps) => {
  const values = parts?.map((part) => valueOf(sumsOf(part))) ?? [];
  // A day without a value, such as a rate without payments, is left out of the average.
  const before = (weeks ?? []).map(valueOf).filter((value) => !Number.isNaN(value));
  // Four empty days mean that the merchant had not started yet.
  const isNew = before.every((value) => value === 0) && values.slice(0, -1).every((one) => !one);
  const average = before.reduce((sum, value) => sum + value, 0) / before.length;
  const now = values.at(-1) ?? Number.NaN;
  const weekday = new Intl.DateTimeFormat(words.locale, {
    weekday: 'long',
    timeZone: ownZone(),
  }).format(new Date());
  return (
    <Link className="tile" to={to} search={search}>
      <span>{name}</span>
      <span className="tile-count" title={exactOf(now)}>
        {parts ? textOf(now) : '…'}
      </span>
      <span className="quiet">
        {!weeks && '…'}
        {weeks && before.length === 0 && own.noUsual}
        {weeks && before.length > 0 && !isNew && own.usual(weekday, textOf(average))}
      </span>
      <Sparkline values={values.map((value) => value || 0)} />
    </Link>
  );
};

const movedOf = ({ moved }: Sums): number => moved;

const Numbers = ({ today }: { readonly today: graph.TodayQuery | undefined }) => {
  const weeks = useWeeks();
  const of = (kind: graph.TotalsOf) => ({
    parts: today?.[kind].parts,
    weeks: weeks?.[kind],
  });
  const payments = of('payment');
  const currency = today?.payment.currency ?? 'RUB';
  const moneyAs =
    (format: typeof money) =>
    (value: number): string =>
      Number.isNaN(value) ? '—' : format(Math.round(value), currency);
  const ofToday = { since: dayBefore(0) };
  const number = {
    textOf: moneyAs(shortMoney),
    exactOf: moneyAs(money),
    valueOf: movedOf,
    search: ofToday,
  } as const;
  return (
    <section>
      <h2 className="part-title">{words.filters.today}</h2>
      <div className="numbers">
        <NumberTile
          {...number}
          name={own.paid}
          {...payments}
          to="/payments"
          search={{ ...ofToday, status: 'succeeded,refunded' }}
        />
        <NumberTile
          {...number}
          name={own.successRate}
          {...payments}
          valueOf={rateOf}
          textOf={rateText}
          exactOf={rateText}
          to="/payments"
          search={{ ...ofToday, status: 'failed' }}
        />
        <NumberTile {...number} name={own.refunded} {...of('refund')} to="/refunds" />
        <NumberTile {...number} name={own.paidOut} {...of('payout')} to="/payouts" />
      </div>
      {today?.payment.complete === false && <p className="quiet">{own.incomplete}</p>}
    </section>
  );
};

type TotalsRow = DayTotals['parts'][number]['rows'][number];

const codes_max = 8;

const columnsOf = (
  name: string,
  named: (group: string) => string,
): readonly Column<TotalsRow>[] => [
  { name, cell: ({ group }) => named(group ?? '') },
  { name: own.successRate, ...figure, cell: (row) => rateText(rateOf(row)) },
  { name: own.succeeded, ...figure, cell: ({ succeeded }) => wholeNumber(succeeded) },
  { name: own.failed, ...figure, cell: ({ failed }) => wholeNumber(failed) },
];

const Divided = ({
  by,
  totals,
}: {
  readonly by: 'method' | 'bank';
  readonly totals: DayTotals;
}) => {
  const methods: Readonly<Record<string, string>> = words.payment.methods;
  const name = by === 'method' ? own.byMethod : own.byBank;
  const columns = columnsOf(name, (group) =>
    group === '' ? own.noBank : by === 'method' ? (methods[group] ?? group) : group,
  );
  const rows = totals.parts[0]?.rows ?? [];
  if (rows.length === 0) return null;
  return <Table label={name} columns={columns} rows={rows} keyOf={({ group }) => group ?? ''} />;
};

/** The codes with the largest increase come first. */
const Codes = ({ today }: { readonly today: graph.TodayQuery }) => {
  const now = today.codes.parts[0]?.rows ?? [];
  const earlier = today.codesBefore.parts[0]?.rows ?? [];
  const codes = now
    .map(({ group, count }) => ({
      code: group ?? '',
      now: count,
      earlier: earlier.find((row) => row.group === group)?.count ?? 0,
    }))
    .toSorted((one, other) => other.now - other.earlier - (one.now - one.earlier))
    .slice(0, codes_max);
  if (codes.length === 0) return null;
  return (
    <Table
      label={own.codes}
      columns={[
        {
          name: own.codes,
          cell: ({ code }) => (code === '' ? own.noCode : <FailureName code={code} />),
        },
        { name: own.now, ...figure, cell: (row) => wholeNumber(row.now) },
        { name: own.earlier, ...figure, cell: (row) => wholeNumber(row.earlier) },
      ]}
      rows={codes}
      keyOf={({ code }) => code}
    />
  );
};

const Rates = ({ today }: { readonly today: graph.TodayQuery | undefined }) => {
  if (!today) return null;
  return (
    <section>
      <h2 className="part-title">{own.rates}</h2>
      <div className="rates">
        <Divided by="method" totals={today.byMethod} />
        <Divided by="bank" totals={today.byBank} />
        <Codes today={today} />
      </div>
    </section>
  );
};

const latest_rows = 10;

const Latest = () => {
  const { search, mode, merchantId, set } = useAddress();
  const { data, error, fetching } = useAsk(graph.Payments, {
    merchantId,
    status: null,
    filter: { mode: [mode] },
    first: latest_rows,
  });
  const { rows = [], changed } = useLiveRows(
    'payment',
    { rows: data?.payments.nodes, fetching },
    (row) => row.mode === mode,
  ).asked;
  if (!data) return <Waiting error={error} />;
  if (rows.length === 0) return <NoPaymentsYet />;
  return (
    <Table
      label={words.home.latest}
      columns={paymentColumns()}
      rows={rows.slice(0, latest_rows)}
      keyOf={objectKey}
      changed={changed}
      openKey={search.open ?? null}
      onOpen={(row) => set({ open: objectKey(row) })}
    />
  );
};

export const HomePage = () => {
  const today = useToday();
  return (
    <>
      <PageHead name={words.sections.home} />
      <Numbers today={today} />
      <section>
        <h2 className="part-title">{words.home.hello}</h2>
        <NeededList />
      </section>
      <section>
        <h2 className="part-title">
          {words.home.latest}
          <Link to="/payments">{words.home.see}</Link>
        </h2>
        <Latest />
      </section>
      <Rates today={today} />
      <PaymentDrawer />
    </>
  );
};
