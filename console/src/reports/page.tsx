/** Totals over time by a chosen group, as a chart and as the same table. */
import { listOf, useAddress } from '../address.ts';
import { money, shortMoney } from '../amounts.ts';
import { wholeNumber } from '../format.ts';
import { PickField } from '../parts/fields.tsx';
import { Empty, Failure } from '../parts/states.tsx';
import { Skeleton, Table, type Column } from '../parts/table.tsx';
import { Tabs, useTab } from '../parts/tabs.tsx';
import { Money } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { useShops } from '../payments/shop-filter.tsx';
import { useClosingWords } from '../words/closing-report.ts';
import { useReportWords } from '../words/reports.ts';
import { useFailureName } from '../words/failures.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { Chart } from './chart.tsx';
import { ClosingPart } from './closing.tsx';
import { DaysForm } from './days-form.tsx';
import { isDay, monthAgo } from './days.ts';
import { cutOf, ownZone, spans, type Cut } from './spans.ts';
import { Summary } from './summary.tsx';
import { useTotals, type TotalsData, type TotalsRow } from './use-totals.ts';

const ofs = ['payment', 'refund', 'payout'] as const;
const bys = ['nothing', 'status', 'method', 'bank', 'failure_code', 'shop'] as const;
const measures = ['count', 'money'] as const;

const useChoices = () => {
  const { search } = useAddress();
  const merchantId = useWhose();
  // Only the totals of a single merchant can be divided by shop.
  const known = bys.filter((by) => by !== 'shop' || merchantId !== null);
  return {
    of: listOf(search.of, ofs)[0] ?? 'payment',
    by: listOf(search.by, known)[0] ?? 'nothing',
    span: listOf(search.span, spans)[0] ?? 'month',
    measure: listOf(search.measure, measures)[0] ?? 'count',
    days:
      isDay(search.from) && isDay(search.to)
        ? { first: search.from, last: search.to }
        : monthAgo(0),
    shopId: search.shop ?? null,
    known,
  };
};

const Choices = () => {
  const words = useReportWords();
  const { columns, filters } = useWords();
  const { set } = useAddress();
  const { of, by, span, measure, days, shopId, known } = useChoices();
  const shops = useShops();
  return (
    <>
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
        <PickField
          label={words.measure}
          value={measure}
          set={(value) => set({ measure: value })}
          options={measures.map((one) => [one, words.measures[one]] as const)}
        />
        {shops.length > 1 && (
          <PickField
            label={columns.shop}
            value={shopId ?? ''}
            set={(value) => set({ shop: value || undefined })}
            options={[['', filters.all], ...shops.map(({ id, name }) => [id, name] as const)]}
          />
        )}
      </div>
      {span === 'days' && <DaysForm key={`${days.first} ${days.last}`} days={days} />}
    </>
  );
};

/** A group in words. */
const useNames = (): ((group: string) => string) => {
  const words = useReportWords();
  const { payment } = useWords();
  const { by } = useChoices();
  const failureOf = useFailureName();
  const shops = useShops();
  const known: Readonly<Record<string, string>> = { ...payment.methods, ...payment.statuses };
  return (group) => {
    if (by === 'nothing') return words.all;
    if (group === '') return by === 'bank' ? words.noBank : words.noCode;
    if (by === 'failure_code') return failureOf(group);
    if (by === 'shop') return shops.find(({ id }) => id === group)?.name ?? group;
    return by === 'method' || by === 'status' ? (known[group] ?? group) : group;
  };
};

const axisFormats = {
  hour: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
} as const satisfies Readonly<Record<Cut['interval'], Intl.DateTimeFormatOptions>>;

/** The beginning of a part in the zone in which parts are cut: short at an axis, else whole. */
const useMoments = (interval: Cut['interval']): ((from: string, isShort: boolean) => string) => {
  const { locale } = useWords();
  const timeZone = ownZone();
  const whole = new Intl.DateTimeFormat(locale, {
    ...(interval === 'hour'
      ? ({ dateStyle: 'short', timeStyle: 'short' } as const)
      : ({ dateStyle: 'medium' } as const)),
    timeZone,
  });
  const short = new Intl.DateTimeFormat(locale, { ...axisFormats[interval], timeZone });
  return (from, isShort) => (isShort ? short : whole).format(new Date(from));
};

type Line = TotalsRow & { readonly from: string };

const useColumns = (currency: string, interval: Cut['interval']): readonly Column<Line>[] => {
  const words = useReportWords();
  const { locale } = useWords();
  const { by } = useChoices();
  const nameOf = useNames();
  const momentOf = useMoments(interval);
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

const Drawn = ({
  totals,
  interval,
}: {
  readonly totals: TotalsData;
  readonly interval: Cut['interval'];
}) => {
  const words = useReportWords();
  const { of, span, measure } = useChoices();
  const { locale } = useWords();
  const { currency } = totals;
  const columns = useColumns(currency, interval);
  const nameOf = useNames();
  const momentOf = useMoments(interval);
  const isMoney = measure === 'money';
  const lines = totals.parts.flatMap(({ from, rows }) => rows.map((row) => ({ ...row, from })));
  return (
    <>
      <Chart
        totals={totals}
        nameOf={nameOf}
        momentOf={momentOf}
        heightOf={({ count, moved, amount }) => (isMoney ? (moved ?? amount) : count)}
        numberOf={(value, isShort) => {
          if (!isMoney) return wholeNumber(value, locale);
          return isShort ? shortMoney(value, currency, locale) : money(value, currency, locale);
        }}
        hint={words.hint}
        label={words.chart(words.ofs[of], words.spans[span], words.measures[measure])}
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
  const { of, by, span, days, shopId } = useChoices();
  const nameOf = useNames();
  const timeZone = ownZone();
  const groupBy = by === 'nothing' ? null : by;
  const cut = cutOf(span, days);
  const asked = { of, timeZone, groupBy, shopId };
  const { totals, error, again } = useTotals({ ...asked, ...cut });
  return (
    <>
      <Choices />
      <p className="quiet">
        {words.explained} {words.zone(timeZone)}.
        {totals?.complete === false && ` ${words.incomplete}`}
      </p>
      <Summary
        asked={asked}
        cut={cut}
        nameOf={nameOf}
        groupName={by === 'nothing' ? '' : words.bys[by]}
      />
      {error && !totals && <Failure error={error} again={again} />}
      {!error && !totals && <Skeleton />}
      {totals && <Drawn totals={totals} interval={cut.interval} />}
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
