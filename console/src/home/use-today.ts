/** The last days and hours on home, in one polled query. */
import { Today, type TodayQuery } from '../../../schema/generated/console.ts';
import { useAddress } from '../address.ts';
import { useAsk } from '../parts/use-ask.ts';
import { useFollow } from '../parts/use-follow.ts';
import { dayBefore, endOfHour, hoursBefore, ownZone } from '../reports/spans.ts';

/** The days in the lines of the tiles. */
const shown_days = 14;
const recent_hours = 24;
const again_ms = 30_000;

export type DayTotals = TodayQuery['payment'];

/** The values on home; undefined until they are loaded. */
export const useToday = (): TodayQuery | undefined => {
  const { merchantId, mode } = useAddress();
  const { data, again } = useAsk(Today, {
    merchantId,
    mode,
    timeZone: ownZone(),
    since: dayBefore(shown_days - 1),
    to: endOfHour(),
    recent: hoursBefore(recent_hours),
    earlier: hoursBefore(2 * recent_hours),
  });
  useFollow(again, { events: false, every_ms: again_ms });
  return data;
};
