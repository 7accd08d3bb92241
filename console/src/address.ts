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

/** Reads the known fields; the rest is left out. */
export const readSearch = (given: Readonly<Record<string, unknown>>): Search =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = given[field];
      return typeof value === 'string' && value !== '' && value.length <= 400
        ? [[field, value]]
        : [];
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
