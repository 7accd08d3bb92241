/** Tables of words: each word in English, and beside it in Russian. */
import { useSettings } from '../settings.ts';

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

const wordsIn = (table: WordTable, language: 0 | 1): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(table).map(([name, value]) => {
      if (typeof value === 'function')
        return [name, (...values: never[]) => value(...values)[language]];
      return [name, isPair(value) ? value[language] : wordsIn(value, language)];
    }),
  );

/** The words of one section, which are loaded with its screens. */
export const sectionWords = <Table extends WordTable>(table: Table): (() => WordsOf<Table>) => {
  const both = { en: wordsIn(table, 0), ru: wordsIn(table, 1) };
  return () => both[useSettings().language] as WordsOf<Table>;
};

const rules = new Intl.PluralRules('ru');

/** The form that goes with a number: one, few or many. */
export const plural = (count: number, one: string, few: string, many: string): string => {
  switch (rules.select(count)) {
    case 'one':
      return one;
    case 'few':
      return few;
    case 'many':
    case 'other':
    case 'zero':
    case 'two':
      return many;
  }
};
