/** Totals over time by a chosen group, as a chart and as the same table. */
import { listOf, useAddress } from '../address.ts';
import { wholeNumber } from '../format.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton, Table, type Column } from '../parts/table.tsx';
import { Tabs, useTab } from '../parts/tabs.tsx';
import { Money } from '../parts/texts.tsx';
import { useClosingWords } from '../words/closing-report.ts';
import { useReportWords } from '../words/reports.ts';
import { useFailureName } from '../words/failures.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { Chart } from './chart.tsx';
import { ClosingPart } from './closing.tsx';
import { dayBefore, endOfHour, hoursBefore, ownZone } from './spans.ts';
import { useTotals, type TotalsData, type TotalsRow } from './use-totals.ts';

const ofs = ['payment', 'refund', 'payout'] as const;
const bys = ['nothing', 'status', 'method', 'bank', 'failure_code', 'shop'] as const;
const spans = ['day', 'month', 'quarter', 'year'] as const;
type Span = (typeof spans)[number];

const spanOf = (span: Span) => {
  switch (span) {
    case 'day':
      return { from: hoursBefore(48), interval: 'hour' } as const;
    case 'month':
      return { from: dayBefore(29), interval: 'day' } as const;
    case 'quarter':
      return { from: dayBefore(91), interval: 'week' } as const;
    case 'year':
      return { from: dayBefore(365), interval: 'month' } as const;
  }
};

const useChoices = () => {
  const { search, merchantId } = useAddress();
  // Only the totals of a single merchant can be divided by shop.
  const known = bys.filter((by) => by !== 'shop' || merchantId !== null);
  return {
    of: listOf(search.of, ofs)[0] ?? 'payment',
    by: listOf(search.by, known)[0] ?? 'nothing',
    span: listOf(search.span, spans)[0] ?? 'month',
    known,
  };
};

const Choices = () => {
  const words = useReportWords();
  const { set } = useAddress();
  const { of, by, span, known } = useChoices();
  return (
    <div className="filter-row">
      <PickField
        label={words.of}
        value={of}
        set={(value) => set({ of: value })}
        options={ofs.map((one) => [one, words.ofs[one]] as const)}
      />
      <PickField
        label={words.by}
        value={by}
        set={(value) => set({ by: value })}
        options={known.map((one) => [one, words.bys[one]] as const)}
      />
      <PickField
        label={words.span}
        value={span}
        set={(value) => set({ span: value })}
        options={spans.map((one) => [one, words.spans[one]] as const)}
      />
    </div>
  );
};

/** A group in words. */
const useNames = (): ((group: string) => string) => {
  const words = useReportWords();
  const { payment } = useWords();
  const { by } = useChoices();
  const failureOf = useFailureName();
  const known: Readonly<Record<string, string>> = { ...payment.methods, ...payment.statuses };
  return (group) => {
    if (by === 'nothing') return words.all;
    if (group === '') return by === 'bank' ? words.noBank : words.noCode;
    if (by === 'failure_code') return failureOf(group);
    return by === 'method' || by === 'status' ? (known[group] ?? group) : group;
  };
};

const axisFormats = {
  day: { hour: '2-digit', minute: '2-digit' },
  month: { day: 'numeric', month: 'short' },
  quarter: { day: 'numeric', month: 'short' },
  year: { month: 'short', year: 'numeric' },
} as const satisfies Readonly<Record<Span, Intl.DateTimeFormatOptions>>;

/** The beginning of a part in the zone in which parts are cut: short at an axis, else whole. */
const useMoments = (): ((from: string, isShort: boolean) => string) => {
  const { locale } = useWords();
  const { span } = useChoices();
  const timeZone = ownZone();
  const whole = new Intl.DateTimeFormat(locale, {
    ...(span === 'day'
      ? ({ dateStyle: 'short', timeStyle: 'short' } as const)
      : ({ dateStyle: 'medium' } as const)),
    timeZone,
  });
  const short = new Intl.DateTimeFormat(locale, { ...axisFormats[span], timeZone });
  return (from, isShort) => (isShort ? short : whole).format(new Date(from));
};

type Line = TotalsRow & { readonly from: string };

const useColumns = (currency: string): readonly Column<Line>[] => {
  const words = useReportWords();
  const { locale } = useWords();
  const { by } = useChoices();
  const nameOf = useNames();
  const momentOf = useMoments();
  const amount = (value: number | null) =>
    value === null ? '—' : <Money amount={value} currency={currency} />;
  return [
    { name: words.span, cell: ({ from }) => momentOf(from, false) },
    ...(by === 'nothing'
      ? []
      : [{ name: words.bys[by], cell: ({ group }: Line) => nameOf(group ?? '') }]),
    {
      name: words.count,
      isNumber: true,
      isNamed: true,
      cell: ({ count }) => wholeNumber(count, locale),
    },
    { name: words.amount, isNumber: true, isNamed: true, cell: (row) => amount(row.amount) },
    { name: words.money, isNumber: true, isNamed: true, cell: (row) => amount(row.moved) },
    { name: words.fee, isNumber: true, isWide: true, cell: (row) => amount(row.fee) },
  ];
};

const Drawn = ({ totals }: { readonly totals: TotalsData }) => {
  const words = useReportWords();
  const { of, span } = useChoices();
  const { locale } = useWords();
  const columns = useColumns(totals.currency);
  const nameOf = useNames();
  const momentOf = useMoments();
  const lines = totals.parts.flatMap(({ from, rows }) => rows.map((row) => ({ ...row, from })));
  return (
    <>
      <Chart
        totals={totals}
        nameOf={nameOf}
        momentOf={momentOf}
        numberOf={(count) => wholeNumber(count, locale)}
        hint={words.hint}
        label={words.chart(words.ofs[of], words.spans[span])}
      />
      {lines.length === 0 ? (
        <Empty title={words.empty}>
          <p>{words.emptyText}</p>
        </Empty>
      ) : (
        <section>
          <h2 className="part-title">{words.table}</h2>
          <Table
            label={words.table}
            columns={columns}
            rows={lines.toReversed()}
            keyOf={({ from, group }) => `${from} ${group}`}
          />
        </section>
      )}
    </>
  );
};

const Statistics = () => {
  const words = useReportWords();
  const { of, by, span } = useChoices();
  const timeZone = ownZone();
  const { totals, error, again } = useTotals({
    ...spanOf(span),
    of,
    to: endOfHour(),
    timeZone,
    groupBy: by === 'nothing' ? null : by,
  });
  return (
    <>
      <Choices />
      <p className="quiet">
        {words.explained} {words.zone(timeZone)}.
        {totals?.complete === false && ` ${words.incomplete}`}
      </p>
      {error && !totals && <Failure error={error} again={again} />}
      {!error && !totals && <Skeleton />}
      {totals && <Drawn totals={totals} />}
    </>
  );
};

const tabs = ['statistics', 'closing'] as const;

/** The screen. */
export const ReportsPage = () => {
  const { sections } = useWords();
  const { tabs: names } = useClosingWords();
  const { parts } = useSharedWords();
  const tab = useTab(tabs);
  return (
    <>
      <header className="page-head">
        <h1>{sections.reports}</h1>
      </header>
      <Tabs label={parts} tabs={tabs} names={names} />
      {tab === 'closing' ? <ClosingPart /> : <Statistics />}
    </>
  );
};
