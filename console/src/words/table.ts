/** Tables of words: each word in English, and beside it in Russian. */
import { settingsNow } from '../settings.ts';

export type Pair<Word = unknown> = readonly [english: Word, russian: Word];
/** The words of codes; a newer service may send codes without words. */
export type CodePairs = Readonly<Record<string, Pair<string>>>;
/** Words that contain values, such as a name or a number. */
type WithValues = (...values: never[]) => Pair<string>;
export interface WordTable {
  readonly [name: string]: Pair | WithValues | WordTable;
}

type WordsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Pair
    ? Table[Name][number]
    : Table[Name] extends (...values: infer Values) => Pair<string>
      ? (...values: Values) => string
      : WordsOf<Table[Name]>;
};

const isPair = (value: Pair | WordTable): value is Pair => Array.isArray(value);

const inLanguage = ([english, russian]: Pair): unknown =>
  settingsNow().language === 'en' ? english : russian;

const readerOf = (value: WordTable[string]): (() => unknown) => {
  if (typeof value === 'function') {
    const say = (...values: never[]): unknown => inLanguage(value(...values));
    return () => say;
  }
  if (isPair(value)) return () => inLanguage(value);
  const section = sectionWords(value);
  return () => section;
};

/**
 * The words of one section, which are loaded with its screens. Each is read in the language of the
 * moment: when the settings change, the screens are drawn anew.
 */
export const sectionWords = <Table extends WordTable>(table: Table): WordsOf<Table> => {
  const words = {};
  for (const [name, value] of Object.entries(table))
    Object.defineProperty(words, name, { enumerable: true, get: readerOf(value) });
  return words as WordsOf<Table>;
};

/** What a table has words for, in the order in which it is shown; no table is empty. */
export const keysOf = <Key extends string>(table: { readonly [Of in Key]?: unknown }) =>
  Object.keys(table) as [Key, ...Key[]];

/** The same with its words, as a field of choice takes them. */
export const optionsOf = <Key extends string>(table: Readonly<Record<Key, string>>) =>
  Object.entries(table) as [Key, string][];

const rules = new Intl.PluralRules('ru');

/** The form that goes with a number: one, few or many. */
export const plural = (count: number, one: string, few: string, many: string): string => {
  const form = rules.select(count);
  if (form === 'one') return one;
  return form === 'few' ? few : many;
};
