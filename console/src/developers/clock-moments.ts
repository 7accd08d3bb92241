/** The moments at which something is due on a shop's test clock, as stops of a slider. */
import type { ClockEventsQuery } from '../../../schema/generated/console.ts';
import type { DeveloperWords } from '../words/developers.ts';

export interface Due {
  readonly key: string;
  readonly at: string;
  readonly text: string;
}

/** What happens at one moment. */
export interface Stop {
  readonly at: string;
  readonly due: readonly Due[];
}

const at = (key: string, moment: string | null, text: string): readonly Due[] =>
  moment === null ? [] : [{ key: `${key} ${moment}`, at: moment, text }];

const dueOf = (events: ClockEventsQuery, { due }: DeveloperWords): readonly Due[] => [
  ...events.billingSubscriptionsConnection.nodes.flatMap((one) => {
    const name = one.planName ?? one.customerRef;
    return [
      ...at(one.id, one.nextChargeAt, due.charge(name)),
      ...at(one.id, one.retryAt, due.retry(name)),
    ];
  }),
  ...events.payments.nodes.flatMap((one) =>
    one.status === 'pending'
      ? at(one.id, one.expiresAt, due.expiry(one.orderId))
      : at(one.id, one.captureBefore, due.hold(one.orderId)),
  ),
  ...events.webhookDeliveries.nodes.flatMap((one) =>
    at(one.id, one.nextAttemptAt, due.webhook(one.event.replace('_', '.'))),
  ),
];

/** How far a clock may be advanced, days less than the five years of the rule. */
const far_ms = 5 * 365 * 86_400_000;

/** The moments ahead of the clock, nearest first; events within one second share a stop. */
export const stopsOf = (
  events: ClockEventsQuery,
  now: string,
  words: DeveloperWords,
): readonly Stop[] => {
  const from_ms = Date.parse(now);
  const ahead = dueOf(events, words)
    .filter((due) => Date.parse(due.at) > from_ms && Date.parse(due.at) - from_ms < far_ms)
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const stops: { at: string; due: Due[] }[] = [];
  for (const due of ahead) {
    const last = stops.at(-1);
    if (last && Date.parse(due.at) - Date.parse(last.due[0]?.at ?? due.at) < 1_000) {
      last.due.push(due);
      last.at = due.at;
    } else stops.push({ at: due.at, due: [due] });
  }
  return stops;
};

/** The distance between two moments, in the largest unit that fits. */
export const distance = (from: string, until: string, words: DeveloperWords): string => {
  const minutes = Math.round((Date.parse(until) - Date.parse(from)) / 60_000);
  if (minutes < 1) return words.atOnce;
  if (minutes < 60) return words.inTime(words.minutes(minutes));
  const hours = Math.round(minutes / 60);
  return words.inTime(hours < 48 ? words.hours(hours) : words.days(Math.round(hours / 24)));
};
