/** Russian plurals. */
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
