/** The filters that each section had last in this tab: a link to the section brings them back. */
import { clean, readSearch, type Search } from '../address.ts';

const keyOf = (section: string): string => `console-filters-${section}`;

/** Keeps the filters of an address: no page, no open object, nothing that all sections share. */
export const rememberFilters = (section: string, search: Search): void => {
  const {
    mode: _,
    merchant: __,
    open: ___,
    after: ____,
    before: _____,
    act: ______,
    ...filters
  } = search;
  try {
    sessionStorage.setItem(keyOf(section), new URLSearchParams(filters).toString());
  } catch {
    // A browser that keeps nothing.
  }
};

/** The filters to go on with. */
export const rememberedFilters = (section: string): Search => {
  try {
    const text = sessionStorage.getItem(keyOf(section)) ?? '';
    return clean(readSearch(Object.fromEntries(new URLSearchParams(text))));
  } catch {
    return {};
  }
};
