/** Totals over time by a chosen group, as a chart and as the same table. */
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { listOf, useAddress } from '../address.ts';
import { wholeNumber, money, shortMoney } from '../format.ts';
import { PickField, ShopPick } from '../parts/fields.tsx';
import { Empty, Waiting } from '../parts/states.tsx';
import { figure, Table, type Column } from '../parts/table.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Money, PageHead } from '../parts/texts.tsx';
import { useWhose } from '../parts/whose.tsx';
import { useShops } from '../parts/filters.tsx';
import { closingWords, reportWords as own } from '../words/reports.ts';
import { failureName } from '../words/failures.tsx';
import { sharedWords } from '../words/shared.ts';
import { keysOf, optionsOf } from '../words/table.ts';
import { words } from '../words/words.ts';
import { ClosingPart, DaysForm, useDays } from './closing.tsx';
import { markedPlaces, roundMost } from './chart-numbers.ts';
import { cutOf, ownZone, type Cut } from './spans.ts';
import { Summary } from './summary.tsx';
import { useTotals, type TotalsData, type TotalsRow } from './use-totals.ts';

/*
 * Bars over time, stacked by group, with values and moments at the axes. The pointer or the arrow
 * keys select a bar and show its numbers; the table next to it has the same data.
 */

const width = 960;
const height = 220;
const floor = 20;
const colours = 8;

type Part = TotalsData['parts'][number];

/** The groups of totals, in a fixed order, so that each keeps its colour. */
const groupsOf = ({ parts }: TotalsData): readonly string[] =>
  [...new Set(parts.flatMap(({ rows }) => rows.map(({ group }) => group ?? '')))].toSorted();

type HeightOf = (row: Part['rows'][number]) => number;

const sumIn = ({ rows }: Part, heightOf: HeightOf): number =>
  rows.reduce((sum, row) => sum + heightOf(row), 0);

interface ChartProps {
  readonly totals: TotalsData;
  readonly label: string;
  /** How to read it with the keyboard. */
  readonly hint: string;
  readonly nameOf: (group: string) => string;
  /** The beginning of a part: short at the axis, whole beside its numbers. */
  readonly momentOf: (from: string, isShort: boolean) => string;
  /** What is as high as its bar. */
  readonly heightOf: HeightOf;
  readonly numberOf: (value: number, isShort: boolean) => string;
}

/** The selected part: by the pointer, or by the arrow keys while the chart has the focus. */
const useLook = (parts: readonly Part[]) => {
  const [place, setPlace] = useState<number | null>(null);
  const last = parts.length - 1;
  const point = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>): void => {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    setPlace(Math.min(last, Math.max(0, Math.floor(((clientX - left) / wide) * parts.length))));
  };
  const press = (event: KeyboardEvent): void => {
    const now = place ?? last;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setPlace(Math.min(last, Math.max(0, next)));
  };
  return {
    place: place === null || place > last ? null : place,
    onPointerMove: point,
    onPointerLeave: () => setPlace(null),
    onFocus: () => setPlace((before) => before ?? last),
    onBlur: () => setPlace(null),
    onKeyDown: press,
  };
};

const Bars = ({
  totals,
  most,
  heightOf,
  place: looked,
}: {
  readonly totals: TotalsData;
  readonly heightOf: HeightOf;
  readonly most: number;
  readonly place: number | null;
}) => {
  const groups = groupsOf(totals);
  const step = width / Math.max(totals.parts.length, 1);
  const high = (value: number): number => (value / most) * (height - floor);
  return totals.parts.map(({ from, rows }, place) => {
    let top = height - 1;
    return (
      <g key={from}>
        {looked === place && (
          <rect className="looked" x={place * step} y={0} width={step} height={height} />
        )}
        {rows.map((row) => {
          const { group } = row;
          const tall = high(heightOf(row));
          top -= tall;
          return (
            <rect
              key={group}
              data-colour={groups.indexOf(group ?? '') % colours}
              x={place * step + step * 0.1}
              y={top}
              width={step * 0.8}
              height={tall}
            />
          );
        })}
      </g>
    );
  });
};

const Readout = ({
  part,
  momentOf,
  numberOf,
  heightOf,
  nameOf,
}: Omit<ChartProps, 'totals' | 'label' | 'hint'> & { readonly part: Part | undefined }) => (
  <p className="chart-readout" role="status">
    {part && (
      <>
        <strong>{momentOf(part.from, false)}</strong> {numberOf(sumIn(part, heightOf), false)}
        {part.rows.length > 1 &&
          part.rows.map((row) => (
            <span key={row.group}>
              {nameOf(row.group ?? '')} {numberOf(heightOf(row), false)}
            </span>
          ))}
      </>
    )}
  </p>
);

const Chart = ({ totals, label, hint, ...texts }: ChartProps) => {
  const { parts } = totals;
  const groups = groupsOf(totals);
  const most = roundMost(Math.max(1, ...parts.map((part) => sumIn(part, texts.heightOf))));
  const { place, ...look } = useLook(parts);
  const levels = [most, most / 2, 0];
  return (
    <figure className="chart">
      <Readout part={place === null ? undefined : parts[place]} {...texts} />
      <div className="chart-sheet">
        <div className="chart-levels" aria-hidden="true">
          {levels.map((level) => (
            <span key={level}>{texts.numberOf(level, true)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          tabIndex={0}
          aria-label={`${label}. ${hint}`}
          {...look}
        >
          {levels.map((level) => {
            const y = height - 0.5 - (level / most) * (height - floor);
            return <line key={level} x1="0" y1={y} x2={width} y2={y} />;
          })}
          <Bars totals={totals} most={most} heightOf={texts.heightOf} place={place} />
        </svg>
        <div className="chart-moments" aria-hidden="true">
          {markedPlaces(parts.length).map((marked) => (
            <span key={marked}>{texts.momentOf(parts[marked]?.from ?? '', true)}</span>
          ))}
        </div>
      </div>
      {groups.length > 1 && (
        <figcaption>
          {groups.map((group, index) => (
            <span key={group} className="legend" data-colour={index % colours}>
              {texts.nameOf(group)}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
};

const useChoices = () => {
  const { search } = useAddress();
  const merchantId = useWhose();
  // Only the totals of a single merchant can be divided by shop.
  const bys = keysOf(own.bys).filter((by) => by !== 'shop' || merchantId !== null);
  return {
    of: listOf(search.of, keysOf(own.ofs))[0] ?? 'payment',
    by: listOf(search.by, bys)[0] ?? 'nothing',
    span: listOf(search.span, keysOf(own.spans))[0] ?? 'month',
    measure: listOf(search.measure, keysOf(own.measures))[0] ?? 'count',
    days: useDays(0),
    shopId: search.shop ?? null,
    bys,
  };
};

/** A choice: its field in the address, what is chosen, and what may be. */
type Pick = readonly [
  field: 'of' | 'by' | 'span' | 'measure',
  value: string,
  options: readonly (readonly [value: string, name: string])[],
];

const Choices = () => {
  const { set } = useAddress();
  const { of, by, span, measure, days, shopId, bys } = useChoices();
  const shops = useShops();
  const picks: readonly Pick[] = [
    ['of', of, optionsOf(own.ofs)],
    ['by', by, bys.map((one) => [one, own.bys[one]])],
    ['span', span, optionsOf(own.spans)],
    ['measure', measure, optionsOf(own.measures)],
  ];
  return (
    <>
      <div className="filter-row">
        {picks.map(([field, value, options]) => (
          <PickField
            key={field}
            label={own[field]}
            value={value}
            set={(chosen) => set({ [field]: chosen })}
            options={options}
          />
        ))}
        {shops.length > 1 && (
          <ShopPick
            label={words.columns.shop}
            shops={shops}
            value={shopId ?? ''}
            set={(value) => set({ shop: value || undefined })}
            all={words.filters.all}
          />
        )}
      </div>
      {span === 'days' && <DaysForm key={`${days.first} ${days.last}`} days={days} />}
    </>
  );
};

const useNames = (): ((group: string) => string) => {
  const { by } = useChoices();
  const shops = useShops();
  const known: Readonly<Record<string, string>> = {
    ...words.payment.methods,
    ...words.payment.statuses,
  };
  return (group) => {
    if (by === 'nothing') return own.all;
    if (group === '') return by === 'bank' ? own.noBank : own.noCode;
    if (by === 'failure_code') return failureName(group);
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
const momentsOf = (interval: Cut['interval']): ((from: string, isShort: boolean) => string) => {
  const timeZone = ownZone();
  const whole = new Intl.DateTimeFormat(words.locale, {
    ...(interval === 'hour'
      ? ({ dateStyle: 'short', timeStyle: 'short' } as const)
      : ({ dateStyle: 'medium' } as const)),
    timeZone,
  });
  const short = new Intl.DateTimeFormat(words.locale, { ...axisFormats[interval], timeZone });
  return (from, isShort) => (isShort ? short : whole).format(new Date(from));
};

type Line = TotalsRow & { readonly from: string };

const useColumns = (currency: string, interval: Cut['interval']): readonly Column<Line>[] => {
  const { by } = useChoices();
  const nameOf = useNames();
  const momentOf = momentsOf(interval);
  const amount = (value: number | null) =>
    value === null ? '—' : <Money amount={value} currency={currency} />;
  return [
    { name: own.span, cell: ({ from }) => momentOf(from, false) },
    ...(by === 'nothing'
      ? []
      : [{ name: own.bys[by], cell: ({ group }: Line) => nameOf(group ?? '') }]),
    { name: own.count, ...figure, cell: ({ count }) => wholeNumber(count) },
    { name: own.amount, ...figure, cell: (row) => amount(row.amount) },
    { name: own.money, ...figure, cell: (row) => amount(row.moved) },
    { name: own.fee, isNumber: true, isWide: true, cell: (row) => amount(row.fee) },
  ];
};

const Drawn = ({
  totals,
  interval,
}: {
  readonly totals: TotalsData;
  readonly interval: Cut['interval'];
}) => {
  const { of, span, measure } = useChoices();
  const { currency } = totals;
  const columns = useColumns(currency, interval);
  const nameOf = useNames();
  const momentOf = momentsOf(interval);
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
          if (!isMoney) return wholeNumber(value);
          return isShort ? shortMoney(value, currency) : money(value, currency);
        }}
        hint={own.hint}
        label={own.chart(own.ofs[of], own.spans[span], own.measures[measure])}
      />
      {lines.length === 0 ? (
        <Empty title={own.empty} text={sharedWords.longer} />
      ) : (
        <section>
          <h2 className="part-title">{own.table}</h2>
          <Table
            label={own.table}
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
  const { of, by, span, days, shopId } = useChoices();
  const nameOf = useNames();
  const timeZone = ownZone();
  const groupBy = by === 'nothing' ? null : by;
  const cut = cutOf(span, days);
  const asked = { of, timeZone, groupBy, shopId };
  const { totals, error } = useTotals({ ...asked, ...cut });
  return (
    <>
      <Choices />
      <p className="quiet">
        {own.explained} {own.zone(timeZone)}.{totals?.complete === false && ` ${own.incomplete}`}
      </p>
      <Summary
        asked={asked}
        cut={cut}
        nameOf={nameOf}
        groupName={by === 'nothing' ? '' : own.bys[by]}
      />
      {!totals && <Waiting error={error} />}
      {totals && <Drawn totals={totals} interval={cut.interval} />}
    </>
  );
};

export const ReportsPage = () => (
  <>
    <PageHead name={words.sections.reports} />
    <Tabs
      names={closingWords.tabs}
      parts={{ statistics: <Statistics />, closing: <ClosingPart /> }}
    />
  </>
);
