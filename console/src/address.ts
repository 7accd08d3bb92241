/**
 * The state in the address: mode, merchant, filters, page, the open object. A screen reads only the
 * fields that it knows, so a link shows a colleague the same view.
 */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { settingsNow } from './settings.ts';

const fields = [
  'mode',
  'merchant',
  'status',
  'method',
  'from',
  'to',
  'since',
  'until',
  'after',
  'before',
  'open',
  'actor',
  'action',
  'type',
  'kinds',
  'tab',
  'bank',
  'shop',
  'code',
  'customer',
  'severity',
  'assignee',
  'subject',
  'of',
  'by',
  'span',
  'measure',
  'link',
  'payment',
  'payout',
  'batch',
  'act',
] as const;
type Field = (typeof fields)[number];

/** The search part of an address: every field is a text. */
export type Search = Partial<Readonly<Record<Field, string>>>;

/** Fields that hold a day or a moment. */
const moments: ReadonlySet<string> = new Set(['since', 'until']);
const momentForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Whether a field's text can be parsed: an invalid moment would break the code that shows it. */
const isReadable = (field: Field, value: string): boolean =>
  !moments.has(field) || (momentForm.test(value) && !Number.isNaN(Date.parse(value)));

/** Reads the known fields and drops the others. */
export const readSearch = (given: Readonly<Record<string, unknown>>): Search =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = given[field];
      if (typeof value !== 'string' || value === '' || value.length > 400) return [];
      return isReadable(field, value) ? [[field, value]] : [];
    }),
  );

export const without = (search: Search, ...gone: readonly string[]): Search =>
  Object.fromEntries(Object.entries(search).filter(([field]) => !gone.includes(field)));

/** Leaves behind what each link keeps: an empty text is none. */
export const nothingKept: Search = { mode: '', merchant: '' };

/** Fields that leave a list on its page: the page itself, and what is open over it. */
const ofPage: ReadonlySet<string> = new Set(['after', 'before', 'open', 'act', 'kinds']);

export const useAddress = () => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const mode = search.mode === 'test' || search.mode === 'live' ? search.mode : settingsNow().mode;
  return {
    search,
    mode,
    /** Null: all merchants. */
    merchantId: search.merchant ?? null,
    /** Changes some fields; `undefined` removes one. Filters return a list to its first page. */
    set: (change: Readonly<Partial<Record<Field, string | undefined>>>): void => {
      const isFilter = Object.keys(change).some((field) => !ofPage.has(field));
      const gone = isFilter ? ['after', 'before'] : [];
      void navigate({
        to: '.',
        search: (before: Search) => ({
          ...nothingKept,
          ...readSearch({ ...without(before, ...gone), ...change }),
        }),
      });
    },
  };
};

/** The values of a field with several, separated by commas. */
export const listOf = <Value extends string>(
  text: string | undefined,
  known: readonly Value[],
): readonly Value[] => known.filter((value) => (text ?? '').split(',').includes(value));
