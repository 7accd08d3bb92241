/** The words of what narrows lists, of their columns, and of a person's settings. */
import { sectionWords } from './words.ts';

const en = {
  payment: 'Payment',
  code: 'Failure code',
  amountWrong: (such: string) => `An amount such as ${such}; the second not below the first.`,
  link: 'Through a payment link',
  columns: 'Columns',
  columnsText: 'Kept in this browser.',
  usual: 'Reset',
  settings: 'Settings',
  settingsText: 'Kept in this browser.',
  zone: 'Time zone',
  zoneOwn: (zone: string) => `This computer: ${zone}`,
  zoneText: (now: string) => `It is ${now} there. Point at a time to see it in UTC.`,
};

const ru: typeof en = {
  payment: 'Платёж',
  code: 'Код отказа',
  amountWrong: (such) => `Сумма вида ${such}; вторая не меньше первой.`,
  link: 'По платёжной ссылке',
  columns: 'Столбцы',
  columnsText: 'Запоминаются в этом браузере.',
  usual: 'Как было',
  settings: 'Настройки',
  settingsText: 'Действуют в этом браузере.',
  zone: 'Часовой пояс',
  zoneOwn: (zone) => `Как на этом компьютере: ${zone}`,
  zoneText: (now) => `Там сейчас ${now}. Момент по UTC — под указателем.`,
};

/** The words. */
export const useFilterWords = sectionWords(en, ru);
