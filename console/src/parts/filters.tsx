/** The filters of a list: chips for statuses, small forms for the rest, its shop, a text. */
import { Fragment, useState, type ReactNode } from 'react';
import { Button, Form } from './button.tsx';
import type { Closable } from './act-form.tsx';
import * as graph from '../../../schema/generated/console.ts';
import { listOf, readSearch, useAddress, without, type Search } from '../address.ts';
import { amountFieldText, readAmount } from '../amounts.ts';
import { plainMoment, fromZoneField, startOfDay, toZoneField, money } from '../format.ts';
import { toggled } from './fields.tsx';
import { Icon } from './icon.tsx';
import { PopoverButton } from './modal.tsx';
import { Empty } from './states.tsx';
import { useAsk } from './use-ask.ts';
import { useWhose } from './whose.tsx';
import { sharedWords } from '../words/shared.ts';
import { keysOf } from '../words/table.ts';
import { words } from '../words/words.ts';

/** Chips that are pressed or not; `children` stand behind them. */
export const Chips = ({
  label,
  chips,
  children,
}: {
  readonly label: string;
  readonly chips: readonly (readonly [name: ReactNode, isOn: boolean, press: () => void])[];
  readonly children?: ReactNode;
}) => (
  <div className="chips" role="group" aria-label={label}>
    {chips.map(([name, isOn, press], place) => (
      <button key={place} type="button" className="chip" aria-pressed={isOn} onClick={press}>
        {name}
      </button>
    ))}
    {children}
  </div>
);

/** Values of a field, of which any number may be chosen; with `countOf`, those that there are. */
export const ManyChips = <Value extends string>({
  field = 'status',
  label = words.columns.status,
  all = words.filters.all,
  names,
  countOf,
}: {
  readonly field?: keyof Search;
  readonly label?: string;
  readonly all?: string;
  readonly names: Readonly<Record<Value, string>>;
  readonly countOf?: (value: Value) => number;
}) => {
  const { search, set } = useAddress();
  const known = keysOf(names);
  const chosen = listOf(search[field], known);
  const chipOf = (value: Value) => {
    const name = (
      <>
        {names[value]}
        {countOf && <span className="count">{countOf(value)}</span>}
      </>
    );
    const press = () => set({ [field]: toggled(chosen, value).join(',') || undefined });
    return [name, chosen.includes(value), press] as const;
  };
  const shown = known.filter((value) => countOf?.(value) !== 0);
  const none = [all, chosen.length === 0, () => set({ [field]: undefined })] as const;
  return <Chips label={label} chips={[none, ...shown.map(chipOf)]} />;
};

/** Values of a field, of which one may be chosen; a second press leaves it open again. */
export const ToggleChips = ({
  label,
  options,
}: {
  readonly label: string;
  readonly options: readonly (readonly [field: keyof Search, value: string, name: string])[];
}) => {
  const { search, set } = useAddress();
  const chips = options.map(([field, value, name]) => {
    const isOn = search[field] === value;
    return [name, isOn, () => set({ [field]: isOn ? undefined : value })] as const;
  });
  return <Chips label={label} chips={chips} />;
};

export const ResolvedChips = ({ children }: { readonly children?: ReactNode }) => {
  const { search, set } = useAddress();
  const isResolved = search.status === 'resolved';
  return (
    <Chips
      label={words.columns.status}
      chips={[
        [words.alert.open, !isResolved, () => set({ status: undefined })],
        [words.alert.resolved, isResolved, () => set({ status: 'resolved' })],
      ]}
    >
      {children}
    </Chips>
  );
};

const dayStart = (daysAgo: number): string => startOfDay(daysAgo).toISOString();

const toField = (at: string | undefined): string => {
  const date = new Date(at ?? '');
  return Number.isNaN(date.getTime()) ? '' : toZoneField(date);
};
const fromField = (text: string): string | undefined => fromZoneField(text)?.toISOString();

/** A list's own filter, in addition to amounts and dates. */
export interface MoreFilter {
  /** Its place in the address, and the name of its input. */
  readonly field: keyof Search;
  /** What it narrows the list to, in words; nothing where it does not. */
  readonly shown: string | undefined;
  /** How it is chosen or typed; without one only a link sets it. */
  readonly input?: ReactNode;
}

/** What is typed into a field, or chosen of it; empty without such a field. */
const textIn = (form: FormData, name: string): string =>
  form
    .getAll(name)
    .filter((value) => typeof value === 'string')
    .join()
    .trim();

/** A field for a text of the address. */
export const TextFilter = ({
  field,
  label,
}: {
  readonly field: keyof Search;
  readonly label: string;
}) => (
  <label>
    {label}
    <input name={field} spellCheck={false} defaultValue={useAddress().search[field] ?? ''} />
  </label>
);

const currency = 'RUB';

/** The amounts of a form, or the field that is invalid or below the one before it. */
const amountsIn = (
  form: FormData,
):
  | { readonly wrong: 'from' | 'to' }
  | { readonly from: string | undefined; readonly to: string | undefined } => {
  const read = (name: string): number | null | undefined => {
    const text = textIn(form, name);
    return text === '' ? undefined : readAmount(text, currency);
  };
  const [from, to] = [read('from'), read('to')];
  if (from === null) return { wrong: 'from' };
  if (to === null || (from !== undefined && to !== undefined && to < from)) return { wrong: 'to' };
  return { from: from?.toString(), to: to?.toString() };
};

const AmountFields = ({ wrong }: { readonly wrong: 'from' | 'to' | null }) => {
  const { search } = useAddress();
  const names = { from: words.filters.amountFrom, to: words.filters.amountTo } as const;
  return (
    <fieldset>
      <legend>{words.columns.amount}</legend>
      {(['from', 'to'] as const).map((name) => {
        const value = search[name];
        return (
          <label key={name}>
            {names[name]}
            <input
              name={name}
              inputMode="decimal"
              defaultValue={
                value === undefined ? '' : amountFieldText(Number(value), currency, words.locale)
              }
              aria-invalid={wrong === name}
              aria-describedby="filter-amount-wrong"
            />
          </label>
        );
      })}
      <p id="filter-amount-wrong" className="bad" role="alert">
        {wrong && sharedWords.amountWrong(amountFieldText(120_000, currency, words.locale))}
      </p>
    </fieldset>
  );
};

const DateFields = () => {
  const { search } = useAddress();
  const [range, setRange] = useState({ since: search.since, until: search.until });
  const presets = [
    [words.filters.today, { since: dayStart(0), until: undefined }],
    [words.filters.yesterday, { since: dayStart(1), until: dayStart(0) }],
    [words.filters.week, { since: dayStart(6), until: undefined }],
    [words.filters.month, { since: dayStart(29), until: undefined }],
  ] as const;
  return (
    <fieldset>
      <legend>{words.filters.dates}</legend>
      <div className="chips">
        {presets.map(([name, preset]) => (
          <button key={name} type="button" className="chip" onClick={() => setRange(preset)}>
            {name}
          </button>
        ))}
      </div>
      {(['since', 'until'] as const).map((name) => (
        <label key={`${name} ${range[name] ?? ''}`}>
          {words.filters[name]}
          <input name={name} type="datetime-local" defaultValue={toField(range[name])} />
        </label>
      ))}
    </fieldset>
  );
};

interface RangeProps {
  /** Whether the list has amounts beside its days. */
  readonly hasAmounts?: boolean;
  readonly more?: readonly MoreFilter[];
  /** Above the inputs of the list's own filters. */
  readonly legend?: string;
}

const FilterForm = ({ close, hasAmounts, more = [], legend }: Closable & RangeProps) => {
  const { set } = useAddress();
  const [wrong, setWrong] = useState<'from' | 'to' | null>(null);
  const chosen = more.filter(({ input }) => input !== undefined);
  const apply = (form: FormData): void => {
    const amounts = amountsIn(form);
    if ('wrong' in amounts) return setWrong(amounts.wrong);
    set({
      since: fromField(textIn(form, 'since')),
      until: fromField(textIn(form, 'until')),
      ...(hasAmounts ? amounts : {}),
      ...Object.fromEntries(chosen.map(({ field }) => [field, textIn(form, field) || undefined])),
    });
    close();
  };
  return (
    <Form className="filter-form" send={apply}>
      <DateFields />
      {hasAmounts && <AmountFields wrong={wrong} />}
      {chosen.length > 0 && (
        <fieldset>
          {legend && <legend>{legend}</legend>}
          {chosen.map(({ field, input }) => (
            <Fragment key={field}>{input}</Fragment>
          ))}
        </fieldset>
      )}
      <Button isMain>{words.filters.apply}</Button>
    </Form>
  );
};

/** The change that takes filters away. */
export const cleared = (fields: readonly string[]): Readonly<Record<string, undefined>> =>
  Object.fromEntries(fields.map((field) => [field, undefined]));

/** What a list is narrowed to: a press takes it away. */
export const ChosenChip = ({
  field,
  text,
}: {
  readonly field: keyof Search;
  readonly text: string;
}) => {
  const { set } = useAddress();
  return (
    <button
      type="button"
      className="chip chosen"
      aria-label={words.filters.remove(text)}
      onClick={() => set({ [field]: undefined })}
    >
      {text}
      <Icon name="close" />
    </button>
  );
};

export const RangeFilters = ({ hasAmounts = true, more = [], ...form }: RangeProps) => {
  const { search, set } = useAddress();
  const { since, until, from, to } = search;
  const { filters, columns } = words;
  const amount = (sign: '≥' | '≤', value: string | undefined): string | undefined =>
    value && hasAmounts ? `${columns.amount} ${sign} ${money(Number(value), currency)}` : undefined;
  const all: readonly MoreFilter[] = [
    { field: 'since', shown: since && `${filters.since} ${plainMoment(since)}` },
    { field: 'until', shown: until && `${filters.until} ${plainMoment(until)}` },
    { field: 'from', shown: amount('≥', from) },
    { field: 'to', shown: amount('≤', to) },
    ...more,
  ];
  const shown = all.flatMap(({ field, shown: text }) => (text ? [{ field, text }] : []));
  const fields = ['status', ...shown.map(({ field }) => field)];
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
        {(close) => <FilterForm {...{ close, hasAmounts, more }} {...form} />}
      </PopoverButton>
      {shown.map((one) => (
        <ChosenChip key={one.field} {...one} />
      ))}
      {shown.length > 0 && (
        <button type="button" className="chip plain" onClick={() => set(cleared(fields))}>
          {filters.clear}
        </button>
      )}
    </div>
  );
};

export const rangeOf = ({ since, until, from, to }: Search) => ({
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
  ...(from === undefined ? {} : { amountFrom: Number(from) }),
  ...(to === undefined ? {} : { amountTo: Number(to) }),
});

/**
 * What the address narrows a list down to: `asked` of the service; `takes` tells whether a new row
 * with a status belongs to it.
 */
export const useNarrowing = <Status extends string>(names: Readonly<Record<Status, string>>) => {
  const { search, mode, merchantId } = useAddress();
  const status = listOf(search.status, keysOf(names));
  const { from, to, until } = search;
  return {
    asked: {
      merchantId,
      status: status.length > 0 ? [...status] : null,
      filter: { mode: [mode], ...rangeOf(search) },
    },
    takes: (of: Status): boolean =>
      (status.length === 0 || status.includes(of)) && (from ?? to ?? until) === undefined,
  };
};

/** Whether a list is filtered, which changes its empty state. */
export const isNarrowed = (search: Search): boolean =>
  Object.keys(readSearch(without(search, 'mode', 'merchant', 'open', 'kinds', 'tab', 'act')))
    .length > 0;

/** Why a list has no rows: because of its filters, or since there are none yet. */
export const NoRows = ({
  of,
  isNarrow,
}: {
  /** Words of a list; `none`: where filters leave none. */
  readonly of: Readonly<Record<'empty' | 'emptyText', string>> & { readonly none?: string };
  /** Without it the address tells. */
  readonly isNarrow?: boolean;
}) => {
  const { search } = useAddress();
  return (isNarrow ?? isNarrowed(search)) ? (
    <Empty title={of.none ?? sharedWords.none} />
  ) : (
    <Empty title={of.empty} text={of.emptyText} />
  );
};

/** The shops of the merchant that is looked at; none where all are. */
export const useShops = () => {
  const merchantId = useWhose();
  const asked = { merchantId: merchantId ?? '' };
  const { data } = useAsk(graph.Shops, asked, { pause: merchantId === null });
  return data?.merchant?.shops ?? [];
};

/** The filter by shop, which is chosen where there are several. */
export const useShopFilter = (): MoreFilter => {
  const shops = useShops();
  const { search } = useAddress();
  const name = shops.find(({ id }) => id === search.shop)?.name ?? search.shop;
  const input = (
    <label>
      {words.columns.shop}
      <select name="shop" defaultValue={search.shop ?? ''}>
        <option value="">{words.filters.all}</option>
        {shops.map(({ id, name: option }) => (
          <option key={id} value={id}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
  return { field: 'shop', shown: name, ...(shops.length > 1 && { input }) };
};

/** A field for one text of the address. `read` gives what of a typed text is kept. */
export const FindField = ({
  field = 'of',
  label,
  read = (text) => text,
}: {
  readonly field?: keyof Search;
  readonly label: string;
  readonly read?: (text: string) => string;
}) => {
  const { search, set } = useAddress();
  const [text, setText] = useState(search[field] ?? '');
  const apply = (): void => {
    const kept = read(text.trim());
    setText(kept);
    set({ [field]: kept || undefined });
  };
  return (
    <Form className="find" role="search" send={apply}>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button>{sharedWords.find}</Button>
    </Form>
  );
};
