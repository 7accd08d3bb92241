/** Days in the person's zone: both ends of a span are days that belong to it. */
import { fromZoneField, toZoneField } from '../zone.ts';

/** The first and the last day, as `2026-11-01`. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

const dayForm = /^\d{4}-\d\d-\d\d$/;

/** A day's text that is a day of the calendar. */
export const isDay = (text: string | undefined): text is string =>
  text !== undefined && dayForm.test(text) && !Number.isNaN(Date.parse(text));

export const today = (): string => toZoneField(new Date()).slice(0, 10);

const afterDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** A calendar month; 0 is the present one, 1 the last. */
export const monthAgo = (months: number): Days => {
  const [year = 0, month = 1] = today().split('-').map(Number);
  const dayOf = (monthIndex: number, day: number): string =>
    new Date(Date.UTC(year, monthIndex, day)).toISOString().slice(0, 10);
  return { first: dayOf(month - 1 - months, 1), last: dayOf(month - months, 0) };
};

/** Whether two spans have the same days. */
export const isSame = (one: Days, other: Days): boolean =>
  one.first === other.first && one.last === other.last;

/** The moments of the days' beginning and end; null where the days are none. */
export const momentsOf = ({
  first,
  last,
}: Days): { readonly from: string; readonly to: string } | null => {
  const from = fromZoneField(`${first}T00:00`);
  const to = isDay(last) ? fromZoneField(`${afterDays(last, 1)}T00:00`) : null;
  return from && to && from < to ? { from: from.toISOString(), to: to.toISOString() } : null;
};
