/** The words of kept views. */
import { sectionWords } from './words.ts';

const en = {
  label: 'Saved views',
  save: 'Save as view',
  name: 'Name of the view',
  keep: 'Save',
  remove: (name: string) => `Remove the view ${name}`,
};

const ru: typeof en = {
  label: 'Сохранённые виды',
  save: 'Сохранить вид',
  name: 'Название вида',
  keep: 'Сохранить',
  remove: (name) => `Удалить вид «${name}»`,
};

/** The words. */
export const useViewWords = sectionWords(en, ru);
