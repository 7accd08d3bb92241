/** The person's settings in this browser: language, zone, theme, rows, last place. */
import { openStore } from './store.ts';

export const languages = [
  ['en', 'English'],
  ['ru', 'Русский'],
] as const;
const themes = ['system', 'light', 'dark'] as const;
const densities = ['usual', 'compact'] as const;

export interface Settings {
  readonly language: 'en' | 'ru';
  readonly theme: (typeof themes)[number];
  readonly density: (typeof densities)[number];
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
    theme: oneOf(of.get('theme'), themes, 'system'),
    density: oneOf(of.get('density'), densities, 'usual'),
    narrow: of.get('narrow') === true,
    mode: oneOf(of.get('mode'), ['test', 'live'], 'test'),
    zone: readZone(of.get('zone')),
    columns: readColumns(of.get('columns')),
  };
};

const settings = openStore(read());

export const applySettings = (): void => {
  const { dataset } = document.documentElement;
  const { language, theme, density } = settings.now();
  document.documentElement.lang = language;
  dataset['theme'] = theme;
  dataset['density'] = density;
};

/** Changes some of the settings, here and for this browser's next page. */
export const changeSettings = (change: Partial<Settings>): void => {
  const changed = { ...settings.now(), ...change };
  try {
    localStorage.setItem(key, JSON.stringify(changed));
  } catch {
    // They apply to this page only.
  }
  settings.set(changed);
  applySettings();
};

export const settingsNow = settings.now;

export const useSettings = settings.use;
