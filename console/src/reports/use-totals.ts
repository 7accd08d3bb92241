/** Totals of the address's merchant and mode, polled. */
import * as graph from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { shortPercent } from '../format.ts';
import { useAsk } from '../parts/use-ask.ts';

export type TotalsData = graph.TotalsQuery['totals'];
export type TotalsRow = TotalsData['parts'][number]['rows'][number];

const again_ms = 30_000;

export const useTotals = (
  asked: Pick<
    graph.TotalsQueryVariables,
    'of' | 'from' | 'to' | 'interval' | 'timeZone' | 'groupBy' | 'shopId'
  >,
) => {
  const { mode, merchantId } = useAddress();
  const follow = { events: false, every_ms: again_ms };
  const { data, error } = useAsk(graph.Totals, { ...asked, merchantId, mode }, { follow });
  return { totals: data?.totals, error };
};

/** The share of what succeeded; NaN where nothing has ended. */
export const rateOf = ({ succeeded, failed }: Pick<TotalsRow, 'succeeded' | 'failed'>): number =>
  succeeded / (succeeded + failed);

export const rateText = (rate: number): string => (Number.isNaN(rate) ? '—' : shortPercent(rate));

export const sumOf = <Field extends 'count' | 'succeeded' | 'failed' | 'amount' | 'moved' | 'fee'>(
  rows: readonly Pick<TotalsRow, Field>[] | undefined,
  field: Field,
): number => (rows ?? []).reduce((sum, row) => sum + (row[field] ?? 0), 0);
