/** The whole span by group, with its sum, beside the equally long span before. */
import { useMemo, type ReactNode } from 'react';
import { wholeNumber } from '../format.ts';
import { figure, Table, type Column } from '../parts/table.tsx';
import { Money } from '../parts/texts.tsx';
import { reportWords as own } from '../words/reports.ts';
import { words } from '../words/words.ts';
import { useShops } from '../parts/filters.tsx';
import { SaveReport, type FileColumn } from './save-report.tsx';
import { earlierOf, type Cut } from './spans.ts';
import { rateOf, rateText, sumOf, useTotals, type TotalsRow } from './use-totals.ts';

type Asked = Pick<Parameters<typeof useTotals>[0], 'of' | 'timeZone' | 'groupBy' | 'shopId'>;
type Sums = Omit<TotalsRow, 'group' | '__typename'>;

interface Line {
  /** Null: all groups together. */
  readonly group: string | null;
  readonly now: Sums;
  readonly before: Sums;
}

const sumsOf = (rows: readonly TotalsRow[]): Sums => {
  // By status and by failure code money is not counted.
  const hasMoney = rows.every(({ moved }) => moved !== null);
  return {
    count: sumOf(rows, 'count'),
    amount: sumOf(rows, 'amount'),
    succeeded: sumOf(rows, 'succeeded'),
    failed: sumOf(rows, 'failed'),
    moved: hasMoney ? sumOf(rows, 'moved') : null,
    fee: hasMoney ? sumOf(rows, 'fee') : null,
  };
};

/** A line for each group of either span, the largest first, and the sum on top. */
const summaryOf = (
  now: readonly TotalsRow[],
  before: readonly TotalsRow[],
  isGrouped: boolean,
): readonly Line[] => {
  const groups = isGrouped ? [...new Set([...now, ...before].map(({ group }) => group ?? ''))] : [];
  const rowsOf = (rows: readonly TotalsRow[], group: string) =>
    sumsOf(rows.filter((row) => (row.group ?? '') === group));
  const lines = groups.map((group) => ({
    group,
    now: rowsOf(now, group),
    before: rowsOf(before, group),
  }));
  const valueOf = ({ now: { moved, amount } }: Line): number => moved ?? amount;
  return [
    { group: null, now: sumsOf(now), before: sumsOf(before) },
    ...lines.toSorted((one, other) => valueOf(other) - valueOf(one)),
  ];
};

interface Shown {
  readonly currency: string;
  readonly nameOf: (group: string) => string;
  readonly groupName: string;
}

/** How a number changed, in per cent; nothing without one before. */
const changeText = (now: number, before: number): string => {
  if (before === 0) return '';
  const change = (now - before) / Math.abs(before);
  const percent = {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  } as const;
  return ` (${new Intl.NumberFormat(words.locale, percent).format(change)})`;
};

/** A number of the span over that of the one before; a dash where it is not counted. */
const comparedColumn = (
  name: string,
  read: (sums: Sums) => number | null,
  shown: (value: number) => ReactNode,
  changed: (now: number, before: number) => string = changeText,
): Column<Line> => ({
  name,
  ...figure,
  cell: ({ now, before }) => {
    const [value, was] = [read(now), read(before)];
    if (value === null || was === null) return '—';
    return (
      <span className="stack">
        {shown(value)}
        <span className="quiet">
          {shown(was)}
          {changed(value, was)}
        </span>
      </span>
    );
  },
});

const columnsOf = ({ currency, nameOf, groupName }: Shown): Column<Line>[] => {
  const sum = (amount: number) => <Money amount={amount} currency={currency} />;
  return [
    {
      name: groupName === '' ? own.totals : groupName,
      cell: ({ group }) => (group === null ? <strong>{own.all}</strong> : nameOf(group)),
    },
    comparedColumn(own.count, ({ count }) => count, wholeNumber),
    comparedColumn(own.successRate, rateOf, rateText, () => ''),
    comparedColumn(own.amount, ({ amount }) => amount, sum),
    comparedColumn(own.money, ({ moved }) => moved, sum),
    { ...comparedColumn(own.fee, ({ fee }) => fee, sum), isWide: true },
  ];
};

/** The columns of the file: each number of the period, then that of the preceding one. */
const csvColumnsOf = (
  { nameOf, groupName }: Shown,
  { of, timeZone, shopId }: Asked,
  cut: Cut,
  shopName: string,
): readonly FileColumn<Line>[] => {
  const moments = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone,
  });
  const moment = (name: string, at: string) => ({
    name,
    text: () => moments.format(new Date(at)),
  });
  const earlier = earlierOf(cut);
  const [from, until] = [own.from(timeZone), own.until(timeZone)];
  const count = (name: string, read: (sums: Sums) => number) => [
    { name, count: ({ now }: Line) => read(now) },
    { name: own.preceding(name), count: ({ before }: Line) => read(before) },
  ];
  const amount = (name: string, read: (sums: Sums) => number | null) => [
    { name, amount: ({ now }: Line) => read(now) },
    { name: own.preceding(name), amount: ({ before }: Line) => read(before) },
  ];
  return [
    {
      name: [own.ofs[of], groupName].filter(Boolean).join(': '),
      text: ({ group }) => (group === null ? own.all : nameOf(group)),
    },
    ...(shopId === null ? [] : [{ name: own.bys.shop, text: () => shopName }]),
    moment(from, cut.from),
    moment(until, cut.to),
    moment(own.preceding(from), earlier.from),
    moment(own.preceding(until), earlier.to),
    ...count(own.count, (sums) => sums.count),
    ...count(own.succeeded, ({ succeeded }) => succeeded),
    ...count(own.failed, ({ failed }) => failed),
    ...amount(own.amount, (sums) => sums.amount),
    ...amount(own.money, ({ moved }) => moved),
    ...amount(own.fee, ({ fee }) => fee),
  ];
};

export const Summary = ({
  asked,
  cut,
  nameOf,
  groupName,
}: {
  readonly asked: Asked;
  readonly cut: Cut;
  readonly nameOf: (group: string) => string;
  readonly groupName: string;
}) => {
  const shops = useShops();
  const { from, to } = cut;
  const earlier = earlierOf(cut);
  const { totals: now } = useTotals({ ...asked, from, to, interval: null });
  const { totals: before } = useTotals({ ...asked, ...earlier, interval: null });
  const lines = useMemo(
    () =>
      now && before
        ? summaryOf(now.parts[0]?.rows ?? [], before.parts[0]?.rows ?? [], asked.groupBy !== null)
        : [],
    [now, before, asked.groupBy],
  );
  if (!now || !before) return null;
  const day = new Intl.DateTimeFormat(words.locale, {
    dateStyle: 'medium',
    timeZone: asked.timeZone,
  });
  // The end of a span does not belong to it.
  const text = day.formatRange(new Date(earlier.from), new Date(Date.parse(earlier.to) - 1));
  const { currency } = now;
  const shown = { currency, nameOf, groupName };
  const { of, shopId, timeZone } = asked;
  const shopName = shops.find(({ id }) => id === shopId)?.name ?? '';
  const dayOf = (at: number): string =>
    new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone }).format(at);
  return (
    <section>
      <h2 className="part-title">
        {own.totals}
        <SaveReport
          label={own.saveLabel}
          name={`${of}_${dayOf(Date.parse(from))}_${dayOf(Date.parse(to) - 1)}`}
          columns={csvColumnsOf(shown, asked, cut, shopName)}
          lines={lines}
          currency={currency}
        />
      </h2>
      <p className="quiet">{own.before(text)}</p>
      <Table
        label={own.totals}
        columns={columnsOf(shown)}
        rows={lines}
        keyOf={({ group }) => group ?? 'all'}
      />
    </section>
  );
};
