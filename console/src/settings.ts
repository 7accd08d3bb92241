/** The person's settings in this browser: language, zone, theme, rows, last place. */
import { openStore } from './store.ts';

const key = 'console';

/** One of the values; the first where it is none of them. */
const oneOf = <Value extends string>(value: unknown, values: readonly [Value, ...Value[]]): Value =>
  values.find((known) => known === value) ?? values[0];

/** A zone that this browser knows; null for any other. */
const readZone = (value: unknown): string | null => {
  if (typeof value !== 'string') return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
};

const readColumns = (value: unknown): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(typeof value === 'object' && value !== null ? value : {}).map(
      ([list, ids]: [string, unknown]) => [
        list,
        Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [],
      ],
    ),
  );

/** Stored settings may be of another version, or missing. */
const read = () => {
  let kept: unknown = null;
  try {
    kept = JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    // A browser that keeps nothing.
  }
  const of = new Map(Object.entries(typeof kept === 'object' && kept !== null ? kept : {}));
  const isRussian = navigator.language.toLowerCase().startsWith('ru');
  return {
    language: oneOf(of.get('language'), isRussian ? ['ru', 'en'] : ['en', 'ru']),
    theme: oneOf(of.get('theme'), ['system', 'light', 'dark']),
    density: oneOf(of.get('density'), ['usual', 'compact']),
    /** Whether the sections are icons alone. */
    narrow: of.get('narrow') === true,
    mode: oneOf(of.get('mode'), ['test', 'live']),
    /** An IANA time zone; null: the computer's own. */
    zone: readZone(of.get('zone')),
    /** The columns of each list that was changed, by their ids. */
    columns: readColumns(of.get('columns')),
  };
};

export type Settings = Readonly<ReturnType<typeof read>>;

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
