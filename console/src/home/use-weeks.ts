/** The same weekday of the last four weeks, up to the same time of day. */
import { Weeks, type TotalsOf } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { dayBefore, ownZone, spanUpToNow } from '../reports/spans.ts';
import { sumUpTo, type Sums } from './sum-up-to.ts';

/** The sums of the four days; undefined until they are known. */
export const useWeeks = (of: TotalsOf): readonly Sums[] | undefined => {
  const { merchantId, mode } = useAddress();
  const spans = [1, 2, 3, 4].map((week) => spanUpToNow(7 * week));
  const [one, two, three, four] = spans;
  const { data } = useAsk(Weeks, {
    merchantId,
    mode,
    of,
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
  return [data.week1, data.week2, data.week3, data.week4].map((week, index) =>
    sumUpTo(week, Date.parse(spans[index]?.from ?? '') + passed_ms),
  );
};
