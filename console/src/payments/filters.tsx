/** The filters of a list as chips: one for each status, and a small form for the rest. */
import { useState, type ReactNode } from 'react';
import { clean, listOf, useAddress, type Search } from '../address.ts';
import { amountFieldText, money, readAmount } from '../amounts.ts';
import { plainMoment } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { PopoverButton } from '../parts/popover-button.tsx';
import { useSharedWords } from '../words/shared.ts';
import { useWords } from '../words/words.ts';
import { fromZoneField, startOfDay, toZoneField } from '../zone.ts';

/** Changing the filters returns a list to its first page. */
const fromTheTop = { after: undefined, before: undefined };

/** A chip for each status, and for all. */
export const StatusChips = <Value extends string>({
  known,
  names,
}: {
  readonly known: readonly Value[];
  readonly names: Readonly<Record<Value, string>>;
}) => {
  const words = useWords();
  const { search, set } = useAddress();
  const chosen = listOf(search.status, known);
  const press = (value: Value): void => {
    const next = chosen.includes(value)
      ? chosen.filter((one) => one !== value)
      : [...chosen, value];
    set({ ...fromTheTop, status: next.join(',') || undefined });
  };
  return (
    <div className="chips" role="group" aria-label={words.filters.status}>
      <button
        type="button"
        className="chip"
        aria-pressed={chosen.length === 0}
        onClick={() => set({ ...fromTheTop, status: undefined })}
      >
        {words.filters.all}
      </button>
      {known.map((value) => (
        <button
          key={value}
          type="button"
          className="chip"
          aria-pressed={chosen.includes(value)}
          onClick={() => press(value)}
        >
          {names[value]}
        </button>
      ))}
    </div>
  );
};

/** The start of a day, in the person's zone. */
const dayStart = (daysAgo: number): string => startOfDay(daysAgo).toISOString();

/** Converts a moment to and from a date and time field. */
const toField = (at: string | undefined): string => {
  const date = new Date(at ?? '');
  return Number.isNaN(date.getTime()) ? '' : toZoneField(date);
};
const fromField = (text: string): string | undefined => fromZoneField(text)?.toISOString();

/** A list's own filters, in addition to amounts and dates. */
export interface MoreFilters {
  readonly fields: ReactNode;
  readonly read: (form: FormData) => Readonly<Partial<Record<keyof Search, string | undefined>>>;
  readonly shown: readonly (readonly [field: keyof Search, text: string])[];
}

/** The text of a form's field. */
export const textIn = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
};

const currency = 'RUB';

/** The amounts of a form, or the field that is invalid or below the one before it. */
const amountsIn = (
  form: FormData,
):
  | { readonly wrong: 'from' | 'to' }
  | { readonly from: string | undefined; readonly to: string | undefined } => {
  const read = (name: string): number | null | undefined => {
    const text = textIn(form, name).trim();
    return text === '' ? undefined : readAmount(text, currency);
  };
  const [from, to] = [read('from'), read('to')];
  if (from === null) return { wrong: 'from' };
  if (to === null || (from !== undefined && to !== undefined && to < from)) return { wrong: 'to' };
  return { from: from?.toString(), to: to?.toString() };
};

/** The amounts, and which of them is wrong. */
const AmountFields = ({ wrong }: { readonly wrong: 'from' | 'to' | null }) => {
  const { filters, locale } = useWords();
  const own = useSharedWords();
  const { search } = useAddress();
  const names = { from: filters.amountFrom, to: filters.amountTo } as const;
  return (
    <fieldset>
      <legend>{filters.amount}</legend>
      {(['from', 'to'] as const).map((name) => {
        const value = search[name];
        return (
          <label key={name}>
            {names[name]}
            <input
              name={name}
              inputMode="decimal"
              defaultValue={
                value === undefined ? '' : amountFieldText(Number(value), currency, locale)
              }
              aria-invalid={wrong === name}
              aria-describedby="filter-amount-wrong"
            />
          </label>
        );
      })}
      <p id="filter-amount-wrong" className="bad" role="alert">
        {wrong && own.amountWrong(amountFieldText(120_000, currency, locale))}
      </p>
    </fieldset>
  );
};

/** The date range, by preset or exactly. */
const DateFields = () => {
  const { filters } = useWords();
  const { search } = useAddress();
  const [range, setRange] = useState({ since: search.since, until: search.until });
  const presets = [
    [filters.today, { since: dayStart(0), until: undefined }],
    [filters.yesterday, { since: dayStart(1), until: dayStart(0) }],
    [filters.week, { since: dayStart(6), until: undefined }],
    [filters.month, { since: dayStart(29), until: undefined }],
  ] as const;
  return (
    <fieldset>
      <legend>{filters.dates}</legend>
      <div className="chips">
        {presets.map(([name, preset]) => (
          <button key={name} type="button" className="chip" onClick={() => setRange(preset)}>
            {name}
          </button>
        ))}
      </div>
      {(['since', 'until'] as const).map((name) => (
        <label key={`${name} ${range[name] ?? ''}`}>
          {filters[name]}
          <input name={name} type="datetime-local" defaultValue={toField(range[name])} />
        </label>
      ))}
    </fieldset>
  );
};

/** The form of amounts, dates, and the list's own filters. */
const FilterForm = ({
  close,
  hasAmounts,
  more,
}: {
  readonly close: () => void;
  readonly hasAmounts: boolean;
  readonly more: MoreFilters | undefined;
}) => {
  const { filters } = useWords();
  const { set } = useAddress();
  const [wrong, setWrong] = useState<'from' | 'to' | null>(null);
  const apply = (form: FormData): void => {
    const amounts = amountsIn(form);
    if ('wrong' in amounts) return setWrong(amounts.wrong);
    set({
      ...fromTheTop,
      since: fromField(textIn(form, 'since')),
      until: fromField(textIn(form, 'until')),
      ...(hasAmounts ? amounts : {}),
      ...more?.read(form),
    });
    close();
  };
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        apply(new FormData(event.currentTarget));
      }}
    >
      <DateFields />
      {hasAmounts && <AmountFields wrong={wrong} />}
      {more?.fields}
      <button type="submit" className="button main">
        {filters.apply}
      </button>
    </form>
  );
};

/** The active filters, each removable. */
const Chosen = ({ shown }: { readonly shown: readonly (readonly [keyof Search, string])[] }) => {
  const words = useWords();
  const { set } = useAddress();
  return shown.map(([field, text]) => (
    <button
      key={field}
      type="button"
      className="chip chosen"
      aria-label={words.filters.remove(text)}
      onClick={() => set({ ...fromTheTop, [field]: undefined })}
    >
      {text}
      <Icon name="close" />
    </button>
  ));
};

/** The form's button, with the active filters. */
const Filters = ({
  hasAmounts,
  more,
}: {
  readonly hasAmounts: boolean;
  readonly more: MoreFilters | undefined;
}) => {
  const words = useWords();
  const { search, set } = useAddress();
  const day = (at: string): string => plainMoment(at, words.locale);
  const sum = (value: string): string => money(Number(value), currency, words.locale);
  const { since, until, from, to } = search;
  const { filters } = words;
  const shown: (readonly [keyof Search, string])[] = [
    ...(since === undefined ? [] : [['since', `${filters.since} ${day(since)}`] as const]),
    ...(until === undefined ? [] : [['until', `${filters.until} ${day(until)}`] as const]),
    ...(from === undefined || !hasAmounts
      ? []
      : [['from', `${filters.amount} ≥ ${sum(from)}`] as const]),
    ...(to === undefined || !hasAmounts ? [] : [['to', `${filters.amount} ≤ ${sum(to)}`] as const]),
    ...(more?.shown ?? []),
  ];
  const all = Object.fromEntries(
    [...shown.map(([field]) => field), 'status'].map((f) => [f, undefined]),
  );
  return (
    <div className="chips">
      <PopoverButton
        className="chip"
        title={filters.label}
        face={
          <>
            <Icon name="plus" />
            {filters.add}
          </>
        }
      >
        {(close) => <FilterForm close={close} hasAmounts={hasAmounts} more={more} />}
      </PopoverButton>
      <Chosen shown={shown} />
      {shown.length > 0 && (
        <button type="button" className="chip plain" onClick={() => set({ ...fromTheTop, ...all })}>
          {filters.clear}
        </button>
      )}
    </div>
  );
};

/** Filters of a list with amounts and days, and its own ones. */
export const RangeFilters = ({ more }: { readonly more?: MoreFilters }) => (
  <Filters hasAmounts more={more} />
);

/** Filters of a list that has days alone. */
export const DayFilters = () => <Filters hasAmounts={false} more={undefined} />;

/** These fields as a part of the graph's filter. */
export const rangeOf = ({ since, until, from, to }: Search) => ({
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
  ...(from === undefined ? {} : { amountFrom: Number(from) }),
  ...(to === undefined ? {} : { amountTo: Number(to) }),
});

/** Whether a list is filtered, which changes its empty state. */
export const isNarrowed = (search: Search): boolean => {
  const {
    mode: _,
    merchant: __,
    open: ___,
    kinds: ____,
    tab: _____,
    act: ______,
    ...rest
  } = search;
  return Object.keys(clean(rest)).length > 0;
};
