/**
 * What the address holds: mode, merchant, filters, page, the open object. Every screen reads the
 * fields that it knows, so that a link shows a colleague the same.
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
  'link',
] as const;
type Field = (typeof fields)[number];

/** The search part of an address: every field is a text. */
export type Search = Partial<Readonly<Record<Field, string>>>;

/** Fields that hold a day or a moment. */
const moments: ReadonlySet<string> = new Set(['since', 'until']);
const momentForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Whether a field's text can be read: a moment that cannot would break whoever shows it. */
const isReadable = (field: Field, value: string): boolean =>
  !moments.has(field) || (momentForm.test(value) && !Number.isNaN(Date.parse(value)));

/** Reads the known fields; the rest is left out. */
export const readSearch = (given: Readonly<Record<string, unknown>>): Search =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = given[field];
      if (typeof value !== 'string' || value === '' || value.length > 400) return [];
      return isReadable(field, value) ? [[field, value]] : [];
    }),
  );

/** What a link to another section takes along. */
export const kept = ({ mode, merchant }: Search): Search => ({
  ...(mode === undefined ? {} : { mode }),
  ...(merchant === undefined ? {} : { merchant }),
});

export interface Address {
  readonly search: Search;
  readonly mode: 'test' | 'live';
  /** Null: all merchants. */
  readonly merchantId: string | null;
  /** Changes some fields; `undefined` takes one away. */
  readonly set: (change: Readonly<Partial<Record<Field, string | undefined>>>) => void;
}

/** Leaves out what is undefined. */
export const clean = (search: Readonly<Partial<Record<Field, string | undefined>>>): Search =>
  readSearch(search);

/** The address of this page. */
export const useAddress = (): Address => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const mode = search.mode === 'test' || search.mode === 'live' ? search.mode : settingsNow().mode;
  return {
    search,
    mode,
    merchantId: search.merchant ?? null,
    set: (change) =>
      void navigate({ to: '.', search: (before: Search) => clean({ ...before, ...change }) }),
  };
};

/** The values of a field that holds several, with commas between them. */
export const listOf = <Value extends string>(
  text: string | undefined,
  known: readonly Value[],
): readonly Value[] => known.filter((value) => (text ?? '').split(',').includes(value));
