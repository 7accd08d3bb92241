/** The person's settings in this browser: language, zone, theme, rows, last place. */
import { useSyncExternalStore } from 'react';

export interface Settings {
  readonly language: 'en' | 'ru';
  readonly theme: 'system' | 'light' | 'dark';
  readonly density: 'usual' | 'compact';
  /** Whether the sections are icons alone. */
  readonly narrow: boolean;
  readonly mode: 'test' | 'live';
  /** An IANA time zone; null: the computer's own. */
  readonly zone: string | null;
  /** The columns of each list that was changed, by their ids. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
}

const key = 'console';

const initial: Settings = {
  language: navigator.language.toLowerCase().startsWith('ru') ? 'ru' : 'en',
  theme: 'system',
  density: 'usual',
  narrow: false,
  mode: 'test',
  zone: null,
  columns: {},
};

const oneOf = <Value extends string>(value: unknown, values: readonly Value[], or: Value): Value =>
  values.find((known) => known === value) ?? or;

/** A zone that this browser knows; null for any other. */
const readZone = (value: unknown): string | null => {
  if (typeof value !== 'string') return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
};

const readColumns = (value: unknown): Settings['columns'] =>
  Object.fromEntries(
    Object.entries(typeof value === 'object' && value !== null ? value : {}).map(
      ([list, ids]: [string, unknown]) => [
        list,
        Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [],
      ],
    ),
  );

/** Stored settings may be of another version, or missing. */
const read = (): Settings => {
  let kept: unknown = null;
  try {
    kept = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    // A browser that keeps nothing.
  }
  const of = new Map(Object.entries(typeof kept === 'object' && kept !== null ? kept : {}));
  return {
    language: oneOf(of.get('language'), ['en', 'ru'], initial.language),
    theme: oneOf(of.get('theme'), ['system', 'light', 'dark'], 'system'),
    density: oneOf(of.get('density'), ['usual', 'compact'], 'usual'),
    narrow: of.get('narrow') === true,
    mode: oneOf(of.get('mode'), ['test', 'live'], 'test'),
    zone: readZone(of.get('zone')),
    columns: readColumns(of.get('columns')),
  };
};

let current = read();
const listeners = new Set<() => void>();

/** Applies settings of the whole page to its root. */
export const applySettings = (): void => {
  const { dataset } = document.documentElement;
  document.documentElement.lang = current.language;
  dataset['theme'] = current.theme;
  dataset['density'] = current.density;
};

/** Changes some of the settings, here and for this browser's next page. */
export const changeSettings = (change: Partial<Settings>): void => {
  current = { ...current, ...change };
  try {
    localStorage.setItem(key, JSON.stringify(current));
  } catch {
    // They apply to this page only.
  }
  applySettings();
  for (const changed of listeners) changed();
};

/** The settings now, without watching them. */
export const settingsNow = (): Settings => current;

const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => void listeners.delete(changed);
};

/** The settings, watched. */
export const useSettings = (): Settings => useSyncExternalStore(subscribe, () => current);
