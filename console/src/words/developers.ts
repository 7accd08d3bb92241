/** The words of what developers need: keys, addresses, signatures, clocks, events, readiness. */
import { plural } from './ru.ts';
import { sectionWords } from './words.ts';

const en = {
  tabs: {
    keys: 'Keys',
    requests: 'Requests',
    events: 'Events',
    security: 'Security',
    clock: 'Test clock',
    live: 'Going live',
  },
  docs: 'Documentation',
  guides: [
    ['/docs/en/', 'Guides'],
    ['/docs/reference/', 'API reference'],
    ['/docs/notes/', 'Details of the API'],
    ['/docs/webhooks/', 'Verifying webhooks'],
    ['/graphql', 'GraphQL'],
  ] as readonly (readonly [string, string])[],
  key: 'Key',
  scopes: 'What it may do',
  scopeNames: {
    'api:balance:read': 'read the balance',
    'api:reports:read': 'read lists and the ledger',
    'api:payouts:sbp': 'pay out by SBP',
    'api:payouts:card': 'pay out to cards',
    'api:payouts:account': 'pay out to accounts',
    'api:recurrent:bind': 'save methods, begin subscriptions',
    'api:recurrent:charge': 'charge saved methods',
  } as Readonly<Record<string, string>>,
  always: 'payments, refunds and links',
  everything: 'everything',
  used: 'Last used',
  nameHint: 'What it is for: shop backend, accounting ...',
  expires: 'Expires',
  endless: 'never',
  after: (days: number) => `after ${days} days`,
  owner: 'Issued by',
  replaceText: (prefix: string) =>
    `A new key with the same rights takes the place of ${prefix}…. The old one works on for the chosen time, so that programs can change over.`,
  overlap: 'The old key works for',
  overlapNone: 'it stops at once',
  never: 'never',
  keyStatus: 'Whether it works',
  keyStatuses: {
    active: 'Active',
    pending: 'Not approved',
    expired: 'Expired',
    revoked: 'Revoked',
  },
  noKeys: 'No keys yet',
  noKeysText: 'Programs call the API with a key. Begin with a test key: it moves no money.',
  issueText:
    'The key is shown once and kept as a digest. Anyone who has it acts for this shop; a live key moves real money.',
  issued: 'The key is ready. Copy it now: it is not shown again.',
  needsSecond:
    'A key that can make payouts works once another person has approved it here. Without payouts it works at once.',
  liveOff: 'Live mode is off for this merchant: live keys are refused until it is on.',
  addresses: 'Addresses that may call',
  addressesText: 'Addresses and CIDR blocks, one on each line. Empty: any address.',
  addressesSave: 'Save the addresses',
  addressesConsequence: (count: number) =>
    count === 0
      ? 'Keys of this shop work from any address again, within a second.'
      : `Within a second, keys of this shop work only from these ${count}. Others are refused.`,
  addressesDone: 'The addresses are in force.',
  signature: 'Signed requests',
  signatureStates: {
    none: 'Not required: the key alone is enough.',
    body: 'Required: each request is signed over its body.',
    bound: 'Required: each request is signed over its method, path, time and body.',
  },
  signatureRequire: 'Require signatures',
  signatureRequireText: 'Requests without a signature are refused within a second.',
  signatureBind: 'Require whole signatures',
  signatureBindText:
    'A signature must then cover method, path and time, too. Programs that sign only the body are refused.',
  signatureLift: 'Stop requiring',
  signatureLiftText: 'The key alone is enough then.',
  signatureDone: 'It is in force.',
  rotate: 'New signing secret',
  rotateText: 'The old secret stops at once: programs that sign with it are refused.',
  rotated: 'This secret is shown once. Copy it now.',
  clockNone: 'This shop lives by the real time',
  clockNoneText:
    'With a clock of its own, a month of charges, expiries and retries passes in seconds. Test mode alone.',
  clockMake: 'Add a test clock',
  clockMakeText: 'The clock begins now and stands. Test payments of this shop use it.',
  clockMade: 'The clock is there.',
  clockShows: 'Time of the clock',
  clockStands: 'Stopped',
  clockRuns: 'Running',
  clockOn: (at: string) => `On its way to ${at}`,
  clockNext: 'Scheduled on this clock',
  clockNothing: 'Nothing waits for a moment: no charge, no expiry, no retry.',
  clockAdvance: 'Advance to here',
  clockAdvanceText: (when: string, count: number) =>
    `The clock goes to ${when}. What waits until then happens on the way, in order: ${count} of those below, and what follows from them. It cannot go back.`,
  clockGoing: 'The clock is on its way.',
  clockFreeze: 'Stop the clock',
  clockResume: 'Start the clock',
  clockRemove: 'Remove the clock',
  clockRemoveText: 'The shop uses real time again. Later due times count in real time.',
  clockRemoved: 'The clock is gone.',
  clockSlider: 'Moment',
  inTime: (distance: string) => `in ${distance}`,
  atOnce: 'at once',
  days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
  hours: (count: number) => (count === 1 ? '1 hour' : `${count} hours`),
  minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
  due: {
    charge: (name: string) => `charge of the subscription ${name}`,
    retry: (name: string) => `another attempt to charge the subscription ${name}`,
    expiry: (order: string) => `the payment ${order} expires`,
    hold: (order: string) => `the hold of ${order} ends`,
    webhook: (event: string) => `the webhook ${event} is tried again`,
  },
  eventsOrder: 'Order',
  eventsNewest: 'Newest first',
  eventsOldest: 'Oldest first',
  eventsSubject: 'Id of a payment, payout or link',
  eventsEmpty: 'No events since that day',
  eventsEmptyText:
    'An event is kept here as it was frozen, whether or not there was an endpoint for it.',
  eventsMore: 'Later events',
  eventsFirst: 'From the beginning',
  eventData: 'Data as it was',
  deliveries: 'Deliveries',
  noDeliveries: 'None: no endpoint asked for it.',
};

const ru: typeof en = {
  tabs: {
    keys: 'Ключи',
    requests: 'Запросы',
    events: 'События',
    security: 'Защита',
    clock: 'Тестовые часы',
    live: 'Запуск',
  },
  docs: 'Документация',
  guides: [
    ['/docs/ru/', 'Руководства'],
    ['/docs/reference/', 'Справочник API'],
    ['/docs/notes/', 'Подробности API'],
    ['/docs/webhooks/', 'Проверка вебхуков'],
    ['/graphql', 'GraphQL'],
  ],
  key: 'Ключ',
  scopes: 'Что может',
  scopeNames: {
    'api:balance:read': 'видеть баланс',
    'api:reports:read': 'читать списки и движения',
    'api:payouts:sbp': 'выплачивать по СБП',
    'api:payouts:card': 'выплачивать на карты',
    'api:payouts:account': 'выплачивать на счета',
    'api:recurrent:bind': 'сохранять способы, начинать подписки',
    'api:recurrent:charge': 'списывать с сохранённых способов',
  },
  always: 'платежи, возвраты и ссылки',
  everything: 'всё',
  used: 'Использован',
  nameHint: 'Для чего он: сервер магазина, бухгалтерия ...',
  expires: 'Срок',
  endless: 'бессрочный',
  after: (days) => `через ${days} ${plural(days, 'день', 'дня', 'дней')}`,
  owner: 'Выпустил',
  replaceText: (prefix) =>
    `Новый ключ с теми же правами заменит ${prefix}…. Старый проработает ещё выбранное время, чтобы программы успели перейти.`,
  overlap: 'Старый ключ работает ещё',
  overlapNone: 'перестаёт сразу',
  never: 'ни разу',
  keyStatus: 'Состояние ключа',
  keyStatuses: {
    active: 'Действуют',
    pending: 'Ждут одобрения',
    expired: 'Истекли',
    revoked: 'Отозваны',
  },
  noKeys: 'Ключей ещё нет',
  noKeysText:
    'Ключ нужен программе для вызовов API. Начните с тестового: он не затрагивает деньги.',
  issueText:
    'Ключ показывается один раз, хранится только отпечаток. Кто владеет ключом, действует от имени магазина; боевой проводит настоящие деньги.',
  issued: 'Ключ готов. Скопируйте его сейчас: больше он не покажется.',
  needsSecond:
    'Ключ с правом выплат заработает, когда его здесь одобрит другой человек. Без выплат он работает сразу.',
  liveOff: 'Боевой режим у мерчанта выключен: боевые ключи не работают, пока его не включат.',
  addresses: 'Откуда можно обращаться',
  addressesText: 'Адреса и блоки CIDR, по одному на строке. Пусто — откуда угодно.',
  addressesSave: 'Сохранить адреса',
  addressesConsequence: (count) =>
    count === 0
      ? 'Через секунду ключи магазина снова будут работать с любого адреса.'
      : `Через секунду ключи магазина будут работать только с этих адресов (${count}). Остальным — отказ.`,
  addressesDone: 'Адреса действуют.',
  signature: 'Подпись запросов',
  signatureStates: {
    none: 'Не требуется: хватает одного ключа.',
    body: 'Требуется: подписано тело каждого запроса.',
    bound: 'Требуется: подписаны метод, путь, время и тело каждого запроса.',
  },
  signatureRequire: 'Требовать подпись',
  signatureRequireText: 'Через секунду запросы без подписи будут получать отказ.',
  signatureBind: 'Требовать полную подпись',
  signatureBindText:
    'Подпись должна будет покрывать ещё метод, путь и время. Программы, которые подписывают только тело, получат отказ.',
  signatureLift: 'Не требовать',
  signatureLiftText: 'Будет хватать одного ключа.',
  signatureDone: 'Действует.',
  rotate: 'Новый секрет подписи',
  rotateText: 'Старый секрет сразу перестанет работать: программы с ним получат отказ.',
  rotated: 'Секрет показывается один раз. Скопируйте его сейчас.',
  clockNone: 'Магазин работает по реальному времени',
  clockNoneText:
    'Со своими часами месяц списаний, сроков и повторов проходит за секунды. Только в тестовом режиме.',
  clockMake: 'Создать часы',
  clockMakeText: 'Часы начнутся с этого момента и будут остановлены. По ним идут тестовые платежи.',
  clockMade: 'Часы созданы.',
  clockShows: 'На часах',
  clockStands: 'Остановлены',
  clockRuns: 'Идут',
  clockOn: (at) => `Переводятся на ${at}`,
  clockNext: 'Запланировано по этим часам',
  clockNothing: 'Ничего не запланировано: ни списаний, ни сроков, ни повторов.',
  clockAdvance: 'Перевести сюда',
  clockAdvanceText: (when, count) =>
    `Часы перейдут к ${when}. Всё, что ждёт до этого, случится по дороге и по порядку: ${count} из перечисленного и то, что из него следует. Назад не перевести.`,
  clockGoing: 'Часы переводятся.',
  clockFreeze: 'Остановить',
  clockResume: 'Запустить',
  clockRemove: 'Удалить часы',
  clockRemoveText:
    'Магазин вернётся к реальному времени. Запланированное выполнится по нему в свой срок.',
  clockRemoved: 'Часы удалены.',
  clockSlider: 'Момент',
  inTime: (distance) => `через ${distance}`,
  atOnce: 'сразу',
  days: (count) => `${count} ${plural(count, 'день', 'дня', 'дней')}`,
  hours: (count) => `${count} ${plural(count, 'час', 'часа', 'часов')}`,
  minutes: (count) => `${count} ${plural(count, 'минуту', 'минуты', 'минут')}`,
  due: {
    charge: (name) => `списание по подписке ${name}`,
    retry: (name) => `повторная попытка по подписке ${name}`,
    expiry: (order) => `истекает платёж ${order}`,
    hold: (order) => `заканчивается удержание ${order}`,
    webhook: (event) => `повтор вебхука ${event}`,
  },
  eventsOrder: 'Порядок',
  eventsNewest: 'Сначала новые',
  eventsOldest: 'Сначала старые',
  eventsSubject: 'Id платежа, выплаты или ссылки',
  eventsEmpty: 'С этого дня событий нет',
  eventsEmptyText: 'События хранятся здесь без изменений, даже если доставлять их некуда.',
  eventsMore: 'Более поздние',
  eventsFirst: 'С начала',
  eventData: 'Данные на тот момент',
  deliveries: 'Доставки',
  noDeliveries: 'Нет: ни один адрес его не ждал.',
};

export const useDeveloperWords = sectionWords(en, ru);
export type DeveloperWords = typeof en;

const readinessEn = {
  ready: 'Nothing is missing: this shop can take real money.',
  missing: (count: number) =>
    count === 1
      ? 'One thing is missing for live mode.'
      : `${count} things are missing for live mode.`,
  list: 'What live mode needs',
  states: { done: 'Done', missing: 'Missing', advised: 'Advised' },
  live: {
    name: 'Live mode is on',
    hint: 'An operator of the platform switches it on.',
  },
  key: {
    name: 'There is a live key',
    hint: 'Issue one under Keys: programs call the API with it.',
  },
  routes: {
    name: 'A bank serves the shop’s payments',
    hint: 'An operator of the platform sets the routes.',
  },
  endpoint: {
    name: 'There is an endpoint for webhooks',
    hint: 'Add one under Webhooks.',
  },
  delivered: {
    name: 'A webhook was delivered',
    hint: 'None was taken yet: send a test event, or look at the attempts.',
  },
  succeeded: {
    name: 'A test payment succeeded',
    hint: 'Make one and pay it on its page.',
  },
  failed: {
    name: 'A test payment was declined',
    hint: 'Make one with a declined outcome: your program must meet it.',
  },
  refunded: {
    name: 'A test payment was refunded',
    hint: 'Refund one from its page in the console or by the API.',
  },
  receipts: {
    name: 'Receipts are required',
    hint: 'Without this setting a payment can be made without the receipt that 54-FZ demands.',
  },
  protected: {
    name: 'Keys are protected by signatures or addresses',
    hint: 'A key alone is enough for anyone who has it. Set this under Security.',
  },
  by: (methods: string) => `By: ${methods}`,
  go: 'Open',
};

const readinessRu: typeof readinessEn = {
  ready: 'Всё готово: магазин может принимать настоящие деньги.',
  missing: (count) => `До боевого режима не хватает: ${count}.`,
  list: 'Что нужно для боевого режима',
  states: { done: 'Есть', missing: 'Не хватает', advised: 'Советуем' },
  live: {
    name: 'Боевой режим включён',
    hint: 'Его включает оператор платформы.',
  },
  key: {
    name: 'Есть боевой ключ',
    hint: 'Выпустите его на вкладке «Ключи»: с ним обращается программа.',
  },
  routes: {
    name: 'Платежи магазина обслуживает банк',
    hint: 'Маршруты задаёт оператор платформы.',
  },
  endpoint: {
    name: 'Есть адрес для вебхуков',
    hint: 'Добавьте его в разделе «Вебхуки».',
  },
  delivered: {
    name: 'Вебхук доставлен',
    hint: 'Пока не принят ни один: отправьте образец или посмотрите попытки.',
  },
  succeeded: {
    name: 'Тестовый платёж прошёл',
    hint: 'Создайте платёж и оплатите его на странице.',
  },
  failed: {
    name: 'Тестовый платёж отклонён',
    hint: 'Создайте платёж с отказом: ваша программа должна его встретить.',
  },
  refunded: {
    name: 'По тестовому платежу был возврат',
    hint: 'Сделайте возврат в консоли или через API.',
  },
  receipts: {
    name: 'Чеки обязательны',
    hint: 'Без этой настройки можно создать платёж без чека, которого требует 54-ФЗ.',
  },
  protected: {
    name: 'Ключи защищены подписью или адресами',
    hint: 'Иначе ключа достаточно любому, кто его узнал. Настройте на вкладке «Защита».',
  },
  by: (methods) => `Способы: ${methods}`,
  go: 'Открыть',
};

export const useReadinessWords = sectionWords(readinessEn, readinessRu);
export type ReadinessWords = typeof readinessEn;
