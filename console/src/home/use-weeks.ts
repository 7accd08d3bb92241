/** The same weekday of the last four weeks, up to the same time of day. */
import { Weeks, type TotalsOf } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { dayBefore, ownZone, spanUpToNow } from '../reports/spans.ts';
import { sumUpTo, type Sums } from './sum-up-to.ts';

/** The sums of the four days in one query; undefined until they are loaded. */
export const useWeeks = (): Readonly<Record<TotalsOf, readonly Sums[]>> | undefined => {
  const { merchantId, mode } = useAddress();
  const spans = [1, 2, 3, 4].map((week) => spanUpToNow(7 * week));
  const [one, two, three, four] = spans;
  const { data } = useAsk(Weeks, {
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
  const sums = (weeks: readonly Parameters<typeof sumUpTo>[0][]): readonly Sums[] =>
    weeks.map((week, index) => sumUpTo(week, Date.parse(spans[index]?.from ?? '') + passed_ms));
  return {
    payment: sums([data.payment1, data.payment2, data.payment3, data.payment4]),
    refund: sums([data.refund1, data.refund2, data.refund3, data.refund4]),
    payout: sums([data.payout1, data.payout2, data.payout3, data.payout4]),
  };
};
