/** Words that several sections share. */
import { sectionWords } from './words.ts';

const en = {
  choose: 'Choose a merchant',
  chooseText: 'This is kept merchant by merchant.',
  findMerchant: 'Part of a name or id',
  noMerchant: 'No merchant has this in its name or id.',
  moreMerchants: 'There are more: type a part of the name or id.',
  chooseShop: 'Shop',
  parts: 'Parts of this screen',
  notFound: 'There is nothing with this id, or it is not within your reach.',
  audited: 'It is written in the audit log under your name.',
  none: 'Nothing fits these filters',
  save: 'Save',
  remove: 'Remove',
  add: 'Add',
  find: 'Find',
  moreOf: 'More',
  onlyOf: (name: string) => `Only of ${name}`,
};

const ru: typeof en = {
  choose: 'Выберите мерчанта',
  chooseText: 'Это хранится отдельно у каждого мерчанта.',
  findMerchant: 'Часть названия или ID',
  noMerchant: 'Мерчанта с таким названием или ID нет.',
  moreMerchants: 'Есть и другие: введите часть названия или ID.',
  chooseShop: 'Магазин',
  parts: 'Части экрана',
  notFound: 'Такого нет, или оно вам недоступно.',
  audited: 'Запись об этом останется в журнале под вашим именем.',
  none: 'Под фильтры ничего не подходит',
  save: 'Сохранить',
  remove: 'Убрать',
  add: 'Добавить',
  find: 'Найти',
  moreOf: 'Ещё',
  onlyOf: (name) => `Только ${name}`,
};

/** The words. */
export const useSharedWords = sectionWords(en, ru);
