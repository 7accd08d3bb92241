/** The words of what developers need: keys, addresses, signatures, clocks, events, readiness. */
import { plural, sectionWords, type CodePairs } from './table.ts';

const scopeNames: CodePairs = {
  'api:balance:read': ['read the balance', 'видеть баланс'],
  'api:reports:read': ['read lists and the ledger', 'читать списки и движения'],
  'api:payouts:sbp': ['pay out by SBP', 'выплачивать по СБП'],
  'api:payouts:card': ['pay out to cards', 'выплачивать на карты'],
  'api:payouts:account': ['pay out to accounts', 'выплачивать на счета'],
  'api:recurrent:bind': [
    'save methods, begin subscriptions',
    'сохранять способы, начинать подписки',
  ],
  'api:recurrent:charge': ['charge saved methods', 'списывать с сохранённых способов'],
};

export const developerWords = sectionWords({
  tabs: {
    keys: ['Keys', 'Ключи'],
    requests: ['Requests', 'Запросы'],
    events: ['Events', 'События'],
    security: ['Security', 'Защита'],
    clock: ['Test clock', 'Тестовые часы'],
    live: ['Going live', 'Запуск'],
  },
  docs: ['Documentation', 'Документация'],
  guides: [
    [
      ['/docs/en/', 'Guides'],
      ['/docs/reference/', 'API reference'],
      ['/docs/notes/', 'Details of the API'],
      ['/docs/webhooks/', 'Verifying webhooks'],
      ['/graphql', 'GraphQL'],
    ] as readonly (readonly [string, string])[],
    [
      ['/docs/ru/', 'Руководства'],
      ['/docs/reference/', 'Справочник API'],
      ['/docs/notes/', 'Подробности API'],
      ['/docs/webhooks/', 'Проверка вебхуков'],
      ['/graphql', 'GraphQL'],
    ],
  ],
  key: ['Key', 'Ключ'],
  scopes: ['What it may do', 'Что может'],
  scopeNames,
  always: ['payments, refunds and links', 'платежи, возвраты и ссылки'],
  everything: ['everything', 'всё'],
  used: ['Last used', 'Использован'],
  nameHint: [
    'What it is for: shop backend, accounting ...',
    'Для чего он: сервер магазина, бухгалтерия ...',
  ],
  expires: ['Expires', 'Срок'],
  endless: ['never', 'бессрочный'],
  after: (days: number) => [
    `after ${days} days`,
    `через ${days} ${plural(days, 'день', 'дня', 'дней')}`,
  ],
  owner: ['Issued by', 'Выпустил'],
  replaceText: (prefix: string) => [
    `A new key with the same rights takes the place of ${prefix}…. The old one works on for the chosen time, so that programs can change over.`,
    `Новый ключ с теми же правами заменит ${prefix}…. Старый проработает ещё выбранное время, чтобы программы успели перейти.`,
  ],
  overlap: ['The old key works for', 'Старый ключ работает ещё'],
  overlapNone: ['it stops at once', 'перестаёт сразу'],
  never: ['never', 'ни разу'],
  keyStatus: ['Whether it works', 'Состояние ключа'],
  keyStatuses: {
    active: ['Active', 'Действуют'],
    pending: ['Not approved', 'Ждут одобрения'],
    expired: ['Expired', 'Истекли'],
    revoked: ['Revoked', 'Отозваны'],
  },
  noKeys: ['No keys yet', 'Ключей ещё нет'],
  noKeysText: [
    'Programs call the API with a key. Begin with a test key: it moves no money.',
    'Ключ нужен программе для вызовов API. Начните с тестового: он не затрагивает деньги.',
  ],
  issueText: [
    'The key is shown once and kept as a digest. Anyone who has it acts for this shop; a live key moves real money.',
    'Ключ показывается один раз, хранится только отпечаток. Кто владеет ключом, действует от имени магазина; боевой проводит настоящие деньги.',
  ],
  issued: [
    'The key is ready. Copy it now: it is not shown again.',
    'Ключ готов. Скопируйте его сейчас: больше он не покажется.',
  ],
  needsSecond: [
    'A key that can make payouts works once another person has approved it here. Without payouts it works at once.',
    'Ключ с правом выплат заработает, когда его здесь одобрит другой человек. Без выплат он работает сразу.',
  ],
  liveOff: [
    'Live mode is off for this merchant: live keys are refused until it is on.',
    'Боевой режим у мерчанта выключен: боевые ключи не работают, пока его не включат.',
  ],
  addresses: ['Addresses that may call', 'Откуда можно обращаться'],
  addressesText: [
    'Addresses and CIDR blocks, one on each line. Empty: any address.',
    'Адреса и блоки CIDR, по одному на строке. Пусто — откуда угодно.',
  ],
  addressesSave: ['Save the addresses', 'Сохранить адреса'],
  addressesConsequence: (count: number) => [
    count === 0
      ? 'Keys of this shop work from any address again, within a second.'
      : `Within a second, keys of this shop work only from these ${count}. Others are refused.`,
    count === 0
      ? 'Через секунду ключи магазина снова будут работать с любого адреса.'
      : `Через секунду ключи магазина будут работать только с этих адресов (${count}). Остальным — отказ.`,
  ],
  addressesDone: ['The addresses are in force.', 'Адреса действуют.'],
  signature: ['Signed requests', 'Подпись запросов'],
  signatureStates: {
    none: ['Not required: the key alone is enough.', 'Не требуется: хватает одного ключа.'],
    body: [
      'Required: each request is signed over its body.',
      'Требуется: подписано тело каждого запроса.',
    ],
    bound: [
      'Required: each request is signed over its method, path, time and body.',
      'Требуется: подписаны метод, путь, время и тело каждого запроса.',
    ],
  },
  signatureRequire: ['Require signatures', 'Требовать подпись'],
  signatureRequireText: [
    'Requests without a signature are refused within a second.',
    'Через секунду запросы без подписи будут получать отказ.',
  ],
  signatureBind: ['Require whole signatures', 'Требовать полную подпись'],
  signatureBindText: [
    'A signature must then cover method, path and time, too. Programs that sign only the body are refused.',
    'Подпись должна будет покрывать ещё метод, путь и время. Программы, которые подписывают только тело, получат отказ.',
  ],
  signatureLift: ['Stop requiring', 'Не требовать'],
  signatureLiftText: ['The key alone is enough then.', 'Будет хватать одного ключа.'],
  signatureDone: ['It is in force.', 'Действует.'],
  rotate: ['New signing secret', 'Новый секрет подписи'],
  rotateText: [
    'The old secret stops at once: programs that sign with it are refused.',
    'Старый секрет сразу перестанет работать: программы с ним получат отказ.',
  ],
  clockNone: ['This shop lives by the real time', 'Магазин работает по реальному времени'],
  clockNoneText: [
    'With a clock of its own, a month of charges, expiries and retries passes in seconds. Test mode alone.',
    'Со своими часами месяц списаний, сроков и повторов проходит за секунды. Только в тестовом режиме.',
  ],
  clockMake: ['Add a test clock', 'Создать часы'],
  clockMakeText: [
    'The clock starts at the current time and does not run by itself. Test payments of this shop use it.',
    'Часы начнутся с этого момента и будут остановлены. По ним идут тестовые платежи.',
  ],
  clockMade: ['The clock is there.', 'Часы созданы.'],
  clockShows: ['Time of the clock', 'На часах'],
  clockStands: ['Stopped', 'Остановлены'],
  clockRuns: ['Running', 'Идут'],
  clockOn: (at: string) => [`On its way to ${at}`, `Переводятся на ${at}`],
  clockNext: ['Scheduled on this clock', 'Запланировано по этим часам'],
  clockNothing: [
    'Nothing is scheduled: no charge, no expiry, no retry.',
    'Ничего не запланировано: ни списаний, ни сроков, ни повторов.',
  ],
  clockAdvance: ['Advance to here', 'Перевести сюда'],
  clockAdvanceText: (when: string, count: number) => [
    `The clock goes to ${when}. What waits until then happens on the way, in order: ${count} of those below, and what follows from them. It cannot go back.`,
    `Часы перейдут к ${when}. Всё, что ждёт до этого, случится по дороге и по порядку: ${count} из перечисленного и то, что из него следует. Назад не перевести.`,
  ],
  clockGoing: ['The clock is on its way.', 'Часы переводятся.'],
  clockFreeze: ['Stop the clock', 'Остановить'],
  clockResume: ['Start the clock', 'Запустить'],
  clockRemove: ['Remove the clock', 'Удалить часы'],
  clockRemoveText: [
    'The shop uses real time again. Later due times count in real time.',
    'Магазин вернётся к реальному времени. Запланированное выполнится по нему в свой срок.',
  ],
  clockRemoved: ['The clock is gone.', 'Часы удалены.'],
  clockSlider: ['Moment', 'Момент'],
  atOnce: ['at once', 'сразу'],
  due: {
    charge: (name: string) => [
      `charge of the subscription ${name}`,
      `списание по подписке ${name}`,
    ],
    retry: (name: string) => [
      `another attempt to charge the subscription ${name}`,
      `повторная попытка по подписке ${name}`,
    ],
    expiry: (order: string) => [`the payment ${order} expires`, `истекает платёж ${order}`],
    hold: (order: string) => [`the hold of ${order} ends`, `заканчивается удержание ${order}`],
    webhook: (event: string) => [`the webhook ${event} is tried again`, `повтор вебхука ${event}`],
  },
  eventsOrder: ['Order', 'Порядок'],
  eventsNewest: ['Newest first', 'Сначала новые'],
  eventsOldest: ['Oldest first', 'Сначала старые'],
  eventsSubject: ['Id of a payment, payout or link', 'Id платежа, выплаты или ссылки'],
  eventsEmpty: ['No events since that day', 'С этого дня событий нет'],
  eventsEmptyText: [
    'An event is kept here as it was frozen, whether or not there was an endpoint for it.',
    'События хранятся здесь без изменений, даже если доставлять их некуда.',
  ],
  eventsMore: ['Later events', 'Более поздние'],
  eventsFirst: ['From the beginning', 'С начала'],
  eventData: ['Data as it was', 'Данные на тот момент'],
  deliveries: ['Deliveries', 'Доставки'],
  noDeliveries: ['None: no endpoint asked for it.', 'Нет: ни один адрес его не ждал.'],
});

export const readinessWords = sectionWords({
  ready: [
    'Nothing is missing: this shop can take real money.',
    'Всё готово: магазин может принимать настоящие деньги.',
  ],
  missing: (count: number) => [
    count === 1
      ? 'One thing is missing for live mode.'
      : `${count} things are missing for live mode.`,
    `До боевого режима не хватает: ${count}.`,
  ],
  list: ['What live mode needs', 'Что нужно для боевого режима'],
  states: {
    done: ['Done', 'Есть'],
    missing: ['Missing', 'Не хватает'],
    advised: ['Advised', 'Советуем'],
  },
  live: {
    name: ['Live mode is on', 'Боевой режим включён'],
    hint: ['An operator of the platform switches it on.', 'Его включает оператор платформы.'],
  },
  key: {
    name: ['There is a live key', 'Есть боевой ключ'],
    hint: [
      'Issue one under Keys: programs call the API with it.',
      'Выпустите его на вкладке «Ключи»: с ним обращается программа.',
    ],
  },
  routes: {
    name: ['A bank serves the shop’s payments', 'Платежи магазина обслуживает банк'],
    hint: ['An operator of the platform sets the routes.', 'Маршруты задаёт оператор платформы.'],
  },
  endpoint: {
    name: ['There is an endpoint for webhooks', 'Есть адрес для вебхуков'],
    hint: ['Add one under Webhooks.', 'Добавьте его в разделе «Вебхуки».'],
  },
  delivered: {
    name: ['A webhook was delivered', 'Вебхук доставлен'],
    hint: [
      'None was taken yet: send a test event, or look at the attempts.',
      'Пока не принят ни один: отправьте образец или посмотрите попытки.',
    ],
  },
  succeeded: {
    name: ['A test payment succeeded', 'Тестовый платёж прошёл'],
    hint: ['Make one and pay it on its page.', 'Создайте платёж и оплатите его на странице.'],
  },
  failed: {
    name: ['A test payment was declined', 'Тестовый платёж отклонён'],
    hint: [
      'Make one with a declined outcome: your program must handle it.',
      'Создайте платёж с отказом: ваша программа должна его обработать.',
    ],
  },
  refunded: {
    name: ['A test payment was refunded', 'По тестовому платежу был возврат'],
    hint: [
      'Refund one from its page in the console or by the API.',
      'Сделайте возврат в консоли или через API.',
    ],
  },
  receipts: {
    name: ['Receipts are required', 'Чеки обязательны'],
    hint: [
      'Without this setting a payment can be made without the receipt that 54-FZ demands.',
      'Без этой настройки можно создать платёж без чека, которого требует 54-ФЗ.',
    ],
  },
  protected: {
    name: ['Keys are protected by signatures or addresses', 'Ключи защищены подписью или адресами'],
    hint: [
      'A key alone is enough for anyone who has it. Set this under Security.',
      'Иначе ключа достаточно любому, кто его узнал. Настройте на вкладке «Защита».',
    ],
  },
  by: (methods: string) => [`By: ${methods}`, `Способы: ${methods}`],
  go: ['Open', 'Открыть'],
});

/* The words of the request log. */

export const requestWords = sectionWords({
  intro: [
    'Calls with this shop’s keys of the last 7 days that were refused or failed, and those that created something. A call appears within 5 seconds.',
    'Вызовы с ключами магазина за последние 7 дней: с отказом, с ошибкой и те, что что-то создали. Вызов появляется в течение 5 секунд.',
  ],
  find: [
    'Request id, idempotency key, path, key or id of an object',
    'Id запроса, ключ идемпотентности, путь, ключ или id объекта',
  ],
  groups: {
    '2xx': ['Created', 'Создали'],
    '4xx': ['Refused', 'С отказом'],
    '5xx': ['Failed', 'С ошибкой'],
  },
  exact: ['Exact status', 'Точный код'],
  to: ['To', 'По'],
  call: ['Call', 'Вызов'],
  status: ['Status', 'Ответ'],
  code: ['Code', 'Причина'],
  key: ['Key', 'Ключ'],
  took: ['Duration', 'Длительность'],
  requestId: ['Request id', 'Id запроса'],
  idempotencyKey: ['Idempotency key', 'Ключ идемпотентности'],
  request: ['Request body', 'Тело запроса'],
  response: ['Response body', 'Тело ответа'],
  noBody: ['None', 'Нет'],
  masked: [
    'Personal data and secrets are masked: ***',
    'Персональные данные и секреты скрыты: ***',
  ],
  made: ['It created', 'Создано'],
  kinds: {
    payment: ['Payment', 'Платёж'],
    payout: ['Payout', 'Выплата'],
    link: ['Payment link', 'Платёжная ссылка'],
    subscription: ['Subscription', 'Подписка'],
  },
  empty: ['No such calls in the last 7 days', 'За 7 дней таких вызовов не было'],
  emptyText: [
    'Nothing was refused, nothing failed, and nothing was created with this shop’s keys.',
    'С ключами магазина ничего не отклонено, не сорвалось и не создано.',
  ],
  gone: [
    'There is no such call. Calls are kept for 7 days.',
    'Такого вызова нет. Вызовы хранятся 7 дней.',
  ],
  madeBy: ['Created by', 'Создан'],
  creating: ['The call that created it', 'Вызов, который его создал'],
});
