/**
 * Four numbers of today next to the average of the same weekday up to the same time of day, each
 * with its last two weeks.
 */
import { Link } from '@tanstack/react-router';
import type { TodayQuery, TotalsOf } from '../../../schema/generated/console.ts';
import { kept, useAddress, type Search } from '../address.ts';
import { money, shortMoney } from '../amounts.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { dayBefore, ownZone } from '../reports/spans.ts';
import { sumOf } from '../reports/use-totals.ts';
import { useReportWords } from '../words/reports.ts';
import { useWords } from '../words/words.ts';
import type { Sums } from './sum-up-to.ts';
import type { DayTotals } from './use-today.ts';
import { useWeeks } from './use-weeks.ts';

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
  const words = useReportWords();
  const { locale } = useWords();
  const values = parts?.map((part) => valueOf(sumsOf(part))) ?? [];
  // A day without a value, such as a rate without payments, is left out of the average.
  const before = (weeks ?? []).map(valueOf).filter((value) => !Number.isNaN(value));
  // Four empty days mean that the merchant had not started yet.
  const isNew = before.every((value) => value === 0) && values.slice(0, -1).every((one) => !one);
  const average = before.reduce((sum, value) => sum + value, 0) / before.length;
  const now = values.at(-1) ?? Number.NaN;
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: ownZone() }).format(
    new Date(),
  );
  return (
    <Link className="tile" to={to} search={search}>
      <span>{name}</span>
      <span className="tile-count" title={exactOf(now)}>
        {parts ? textOf(now) : '…'}
      </span>
      <span className="quiet">
        {!weeks && '…'}
        {weeks && before.length === 0 && words.noUsual}
        {weeks && before.length > 0 && !isNew && words.usual(weekday, textOf(average))}
      </span>
      <Sparkline values={values.map((value) => value || 0)} />
    </Link>
  );
};

const movedOf = ({ moved }: Sums): number => moved;
const rateOf = ({ succeeded, failed }: Sums): number =>
  succeeded + failed === 0 ? Number.NaN : succeeded / (succeeded + failed);

/** The numbers. */
export const Numbers = ({ today }: { readonly today: TodayQuery | undefined }) => {
  const words = useReportWords();
  const { locale } = useWords();
  const { search } = useAddress();
  const weeks = useWeeks();
  const of = (kind: TotalsOf) => ({ parts: today?.[kind].parts, weeks: weeks?.[kind] });
  const payments = of('payment');
  const currency = today?.payment.currency ?? 'RUB';
  const moneyAs =
    (format: typeof money) =>
    (value: number): string =>
      Number.isNaN(value) ? '—' : format(Math.round(value), currency, locale);
  const percent = (value: number): string =>
    Number.isNaN(value)
      ? '—'
      : value.toLocaleString(locale, { style: 'percent', maximumFractionDigits: 1 });
  const ofToday = { ...kept(search), since: dayBefore(0) };
  const number = {
    textOf: moneyAs(shortMoney),
    exactOf: moneyAs(money),
    valueOf: movedOf,
    search: ofToday,
  } as const;
  return (
    <section>
      <h2 className="part-title">{words.today}</h2>
      <div className="numbers">
        <NumberTile
          {...number}
          name={words.paid}
          {...payments}
          to="/payments"
          search={{ ...ofToday, status: 'succeeded,refunded' }}
        />
        <NumberTile
          {...number}
          name={words.successRate}
          {...payments}
          valueOf={rateOf}
          textOf={percent}
          exactOf={percent}
          to="/payments"
          search={{ ...ofToday, status: 'failed' }}
        />
        <NumberTile {...number} name={words.refunded} {...of('refund')} to="/refunds" />
        <NumberTile {...number} name={words.paidOut} {...of('payout')} to="/payouts" />
      </div>
      {today?.payment.complete === false && <p className="quiet">{words.incomplete}</p>}
    </section>
  );
};
