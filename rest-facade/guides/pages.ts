/**
 * The guides: their languages, order and addresses, and the texts around them. A page is
 * `<language>/<name>.md`.
 */

export const guideLanguages = ['en', 'ru'] as const;
export type GuideLanguage = (typeof guideLanguages)[number];

/** The pages by group, in the order in which a merchant needs them. */
export const guideGroups = [
  { group: 'start', names: ['quickstart', 'testing', 'going-live'] },
  { group: 'payments', names: ['accept-a-payment', 'two-step', 'refunds', 'receipts', 'links'] },
  { group: 'more', names: ['saved-methods', 'payouts', 'reconciliation'] },
  {
    group: 'integration',
    names: ['webhooks', 'verify-webhooks', 'idempotency', 'errors', 'details'],
  },
  { group: 'people', names: ['operators'] },
] as const;

type GuideGroup = (typeof guideGroups)[number]['group'];
export type GuideName = (typeof guideGroups)[number]['names'][number];

export const guideNames: readonly GuideName[] = guideGroups.flatMap(({ names }) => [...names]);

export const guidePath = (language: GuideLanguage, name: GuideName): string =>
  `/docs/${language}/${name}/`;

/** Pages outside the guides, in English only: the reference and its companions. */
export const otherPages = ['/docs/reference/', '/docs/changelog/'] as const;
export type OtherPage = (typeof otherPages)[number];

/** Addresses without a language, which the reference and the schema name. */
export const shortPaths = {
  '/docs/webhooks': 'verify-webhooks',
  '/docs/notes': 'details',
} as const satisfies Readonly<Record<string, GuideName>>;

/** The English texts have the shape of every language; `script` is what the script says. */
const en = {
  title: 'Documentation',
  introduction:
    'How a shop accepts payments, pays out, bills its customers and keeps its books with this service. Every command on these pages is run against the service before it is published.',
  skip: 'To the text',
  menu: 'All pages',
  nowhere: 'There is nothing at this address',
  nowhereText: 'The page has moved, or never was: all pages stand in the menu.',
  onThisPage: 'On this page',
  otherLanguage: 'Русский',
  search: 'Search the documentation',
  next: 'Next',
  previous: 'Previous',
  table: 'Table',
  /** What follows a placeholder below a snippet: where in the answer its value is. */
  valueOf: 'of the answer',
  answer: 'Answer',
  data: 'Example of data',
  reference: 'Reference',
  description: 'OpenAPI description',
  postman: 'Postman collection',
  groups: {
    start: 'Start here',
    payments: 'Payments',
    more: 'Billing and money',
    integration: 'Building it in',
    people: 'People',
  } satisfies Readonly<Record<GuideGroup, string>>,
  pages: {
    '/docs/reference/': 'API reference',
    '/docs/changelog/': 'Changelog of the API',
  } satisfies Readonly<Record<OtherPage, string>>,
  script: {
    copy: 'Copy',
    copied: 'Copied',
    found: 'found',
    nothing: 'Nothing found',
    tabs: 'Language of the example',
    key: {
      text: 'Put your test key into the examples, or create one with your session of the console. It stays in this tab.',
      label: 'Test key',
      put: 'Put it there',
      make: 'Create a test key',
      live: 'That is not a test key: it begins with sk_test_. A live key does not belong here.',
      placed: 'The examples have your key and the address of this service.',
      logIn: 'Log in to the console first, then come back.',
      noShop: 'Your session is not of a merchant with a shop: create the key in the console.',
      refused: 'The key was not created. Create it in the console.',
      name: 'Documentation',
    },
  },
};
export type GuideWords = typeof en;

const ru: GuideWords = {
  title: 'Документация',
  introduction:
    'Как магазину принимать платежи, делать выплаты, списывать по подписке и сверять деньги с этим сервисом. Каждая команда на этих страницах перед публикацией выполнена на работающем сервисе.',
  skip: 'К тексту',
  menu: 'Все страницы',
  nowhere: 'По этому адресу ничего нет',
  nowhereText: 'Страница переехала, или её не было: все страницы — в меню.',
  onThisPage: 'На этой странице',
  otherLanguage: 'English',
  search: 'Поиск по документации',
  next: 'Дальше',
  previous: 'Назад',
  table: 'Таблица',
  valueOf: 'из ответа',
  answer: 'Ответ',
  data: 'Пример data',
  reference: 'Справочник',
  description: 'Описание OpenAPI',
  postman: 'Коллекция Postman',
  groups: {
    start: 'Начало',
    payments: 'Платежи',
    more: 'Подписки и деньги',
    integration: 'Интеграция',
    people: 'Люди',
  },
  pages: {
    '/docs/reference/': 'Справочник API (англ.)',
    '/docs/changelog/': 'История изменений API',
  },
  script: {
    copy: 'Копировать',
    copied: 'Скопировано',
    found: 'найдено',
    nothing: 'Ничего не найдено',
    tabs: 'Язык примера',
    key: {
      text: 'Подставьте в примеры свой тестовый ключ или создайте его, если вы вошли в консоль. Он останется в этой вкладке.',
      label: 'Тестовый ключ',
      put: 'Подставить',
      make: 'Создать тестовый ключ',
      live: 'Это не тестовый ключ: тот начинается с sk_test_. Боевому ключу здесь не место.',
      placed: 'В примерах теперь ваш ключ и адрес этого сервиса.',
      logIn: 'Сначала войдите в консоль, потом вернитесь сюда.',
      noShop: 'В вашей сессии нет мерчанта с магазином: создайте ключ в консоли.',
      refused: 'Создать ключ не удалось. Создайте его в консоли.',
      name: 'Документация',
    },
  },
};

export const guideWords: Readonly<Record<GuideLanguage, GuideWords>> = { en, ru };
