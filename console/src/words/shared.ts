/** Words that several sections share: choices, lists with their filters and columns, settings. */
import { sectionWords } from './table.ts';

export const sharedWords = sectionWords({
  choose: ['Choose a merchant', 'Выберите мерчанта'],
  chooseText: ['This is kept merchant by merchant.', 'Это хранится отдельно у каждого мерчанта.'],
  findMerchant: ['Part of a name or id', 'Часть названия или ID'],
  noMerchant: ['No merchant has this in its name or id.', 'Мерчанта с таким названием или ID нет.'],
  moreMerchants: [
    'There are more: type a part of the name or id.',
    'Есть и другие: введите часть названия или ID.',
  ],
  parts: ['Parts of this screen', 'Части экрана'],
  notFound: [
    'There is nothing with this id, or it is not within your reach.',
    'Такого нет, или оно вам недоступно.',
  ],
  audited: [
    'It is written in the audit log under your name.',
    'Запись об этом останется в журнале под вашим именем.',
  ],
  none: ['Nothing fits these filters', 'Под фильтры ничего не подходит'],
  nothing: ['Nothing found', 'Ничего не найдено'],
  remove: ['Remove', 'Убрать'],
  find: ['Find', 'Найти'],
  show: ['Show', 'Показать'],
  file: ['File', 'Файл'],
  chooseNone: ['Choose none', 'Снять выбор'],
  allOfThem: ['All of them, with filters', 'Все, с фильтрами'],
  secretOnce: [
    'This secret is shown once. Copy it now.',
    'Секрет показывается один раз. Скопируйте его сейчас.',
  ],
  longer: ['Choose a longer one, or the other mode.', 'Выберите период длиннее или другой режим.'],
  onlyOf: (name: string) => [`Only of ${name}`, `Только ${name}`],
  code: ['Failure code', 'Код отказа'],
  amountWrong: (such: string) => [
    `An amount such as ${such}; the second not below the first.`,
    `Сумма вида ${such}; вторая не меньше первой.`,
  ],
  link: ['Through a payment link', 'По платёжной ссылке'],
  columns: ['Columns', 'Столбцы'],
  columnsText: ['Kept in this browser.', 'Запоминаются в этом браузере.'],
  usual: ['Reset', 'Как было'],
  settings: ['Settings', 'Настройки'],
  settingsText: ['Kept in this browser.', 'Действуют в этом браузере.'],
  zone: ['Time zone', 'Часовой пояс'],
  zoneOwn: (zone: string) => [`This computer: ${zone}`, `Как на этом компьютере: ${zone}`],
  zoneText: (now: string) => [
    `It is ${now} there. Point at a time to see it in UTC.`,
    `Там сейчас ${now}. Момент по UTC — под указателем.`,
  ],
});
