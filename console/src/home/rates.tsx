/** Payment outcomes by bank and method, and failures that have increased. */
import type { TodayQuery } from '../../../schema/generated/console.ts';
import { Table, type Column } from '../parts/table.tsx';
import { wholeNumber } from '../format.ts';
import { useReportWords } from '../words/reports.ts';
import { FailureName } from '../words/failures.tsx';
import { useWords } from '../words/words.ts';
import type { DayTotals } from './use-today.ts';

type TotalsRow = DayTotals['parts'][number]['rows'][number];

const codes_max = 8;

const useColumns = (
  name: string,
  named: (group: string) => string,
): readonly Column<TotalsRow>[] => {
  const words = useReportWords();
  const { locale } = useWords();
  return [
    { name, cell: ({ group }) => named(group ?? '') },
    {
      name: words.successRate,
      isNumber: true,
      isNamed: true,
      cell: ({ succeeded, failed }) =>
        succeeded + failed === 0
          ? '—'
          : (succeeded / (succeeded + failed)).toLocaleString(locale, {
              style: 'percent',
              maximumFractionDigits: 1,
            }),
    },
    {
      name: words.succeeded,
      isNumber: true,
      isNamed: true,
      cell: ({ succeeded }) => wholeNumber(succeeded, locale),
    },
    {
      name: words.failed,
      isNumber: true,
      isNamed: true,
      cell: ({ failed }) => wholeNumber(failed, locale),
    },
  ];
};

const Divided = ({
  by,
  totals,
}: {
  readonly by: 'method' | 'bank';
  readonly totals: DayTotals;
}) => {
  const words = useReportWords();
  const { payment } = useWords();
  const methods: Readonly<Record<string, string>> = payment.methods;
  const name = by === 'method' ? words.byMethod : words.byBank;
  const columns = useColumns(name, (group) =>
    group === '' ? words.noBank : by === 'method' ? (methods[group] ?? group) : group,
  );
  const rows = totals.parts[0]?.rows ?? [];
  if (rows.length === 0) return null;
  return <Table label={name} columns={columns} rows={rows} keyOf={({ group }) => group ?? ''} />;
};

interface Code {
  readonly code: string;
  readonly now: number;
  readonly earlier: number;
}

/** The codes with the largest increase come first. */
const Codes = ({ today }: { readonly today: TodayQuery }) => {
  const words = useReportWords();
  const { locale } = useWords();
  const now = today.codes.parts[0]?.rows ?? [];
  const earlier = today.codesBefore.parts[0]?.rows ?? [];
  const codes: readonly Code[] = now
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
      label={words.codes}
      columns={[
        {
          name: words.codes,
          cell: ({ code }) => (code === '' ? words.noCode : <FailureName code={code} />),
        },
        {
          name: words.now,
          isNumber: true,
          isNamed: true,
          cell: (row) => wholeNumber(row.now, locale),
        },
        {
          name: words.earlier,
          isNumber: true,
          isNamed: true,
          cell: (row) => wholeNumber(row.earlier, locale),
        },
      ]}
      rows={codes}
      keyOf={({ code }) => code}
    />
  );
};

/** The section of home. */
export const Rates = ({ today }: { readonly today: TodayQuery | undefined }) => {
  const words = useReportWords();
  if (!today) return null;
  return (
    <section>
      <h2 className="part-title">{words.rates}</h2>
      <div className="rates">
        <Divided by="method" totals={today.byMethod} />
        <Divided by="bank" totals={today.byBank} />
        <Codes today={today} />
      </div>
    </section>
  );
};
