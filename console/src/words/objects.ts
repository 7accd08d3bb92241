/** The words of payments, refunds, payouts, deliveries, alerts, the ledger and merchants. */
import type { WordTable } from './table.ts';

export const objectWords = {
  payment: {
    statuses: {
      pending: ['Awaiting payment', 'Ждёт оплаты'],
      processing: ['Processing', 'В банке'],
      authorized: ['Held', 'Удержан'],
      succeeded: ['Paid', 'Оплачен'],
      failed: ['Failed', 'Не прошёл'],
      expired: ['Expired', 'Истёк'],
      cancelled: ['Cancelled', 'Отменён'],
      partly_refunded: ['Partly refunded', 'Возвращён частично'],
      refunded: ['Refunded', 'Возвращён'],
    },
    methods: {
      sbp: ['SBP', 'СБП'],
      cards: ['Card', 'Карта'],
      tpay: ['T-Pay', 'T-Pay'],
      sberpay: ['SberPay', 'SberPay'],
      recurrent: ['Saved method', 'Сохранённый способ'],
      any: ['Not chosen', 'Не выбран'],
    },
    late: [
      'The money came after the payment had ended: it is refunded automatically.',
      'Деньги пришли, когда платёж уже завершился: они вернутся сами.',
    ],
    open: ['Open on a page of its own', 'Открыть отдельной страницей'],
    page: ['Payment page', 'Страница оплаты'],
    notFound: [
      'There is no such payment, or it is not within your reach.',
      'Такого платежа нет, или он вам недоступен.',
    ],
    strip: {
      ordered: ['Ordered', 'Заказано'],
      held: ['Held', 'Удержано'],
      captured: ['Captured', 'Списано'],
      fee: ['Fee', 'Комиссия'],
      net: ['Net', 'К зачислению'],
      refunded: ['Refunded', 'Возвращено'],
      remaining: ['Refundable', 'Можно вернуть'],
    },
    facts: ['Details', 'Подробности'],
    id: ['Id', 'Id'],
    terminal: ['Terminal', 'Терминал'],
    bank: ['Bank', 'Банк'],
    rrn: ['RRN', 'RRN'],
    phone: ['Phone', 'Телефон'],
    payerBank: ["Buyer's bank", 'Банк покупателя'],
    linkEnds: ['Link ends', 'Ссылка действует до'],
    captureBefore: ['Capture before', 'Списать до'],
    metadata: ['Metadata', 'Метаданные'],
    attempt: [
      (number: number, answer: string, ms: string) => `Attempt ${number}: ${answer}, ${ms}`,
      (number: number, answer: string, ms: string) => `Попытка ${number}: ${answer}, ${ms}`,
    ],
    noAnswer: ['no answer', 'без ответа'],
    raw: ['Record', 'Запись'],
    empty: ['No payments yet', 'Платежей ещё нет'],
    emptyText: [
      'A payment appears here as soon as a shop creates one. This one can be pasted:',
      'Платёж появится здесь, как только магазин его создаст. Можно вставить эту команду:',
    ],
    emptyKey: ['YOUR_TEST_KEY', 'ВАШ_ТЕСТОВЫЙ_КЛЮЧ'],
    none: ['No payment fits these filters', 'Под фильтры не подходит ни один платёж'],
  },
  acts: {
    needs: [(role: string) => `Needs the role ${role}`, (role: string) => `Нужна роль: ${role}`],
    platform: ["For the platform's operators", 'Только для операторов платформы'],
    refund: ['Refund', 'Вернуть'],
    cancel: ['Cancel payment', 'Отменить платёж'],
    release: ['Release the hold', 'Снять удержание'],
    capture: ['Capture', 'Списать'],
    refundText: [
      (amount: string, to: string) =>
        `${amount} goes back to ${to}. The balance falls by ${amount}; the fee is not returned.`,
      (amount: string, to: string) =>
        `${amount} вернутся на ${to}. Баланс уменьшится на ${amount}; комиссия не возвращается.`,
    ],
    buyer: ['the buyer', 'счёт покупателя'],
    cancelText: [
      'The buyer can no longer pay this link. It cannot be undone.',
      'Покупатель больше не сможет оплатить по этой ссылке. Отменить это нельзя.',
    ],
    releaseText: [
      (amount: string) => `The bank releases the ${amount} that it holds.`,
      (amount: string) => `Банк освободит удержанные ${amount}.`,
    ],
    captureText: [
      (amount: string) =>
        `${amount} is captured and the rest of the hold released. A hold is captured once.`,
      (amount: string) =>
        `Спишутся ${amount}. Остаток удержания освободится. Это делается один раз.`,
    ],
    amount: [
      (currency: string) => `Amount, ${currency}`,
      (currency: string) => `Сумма, ${currency}`,
    ],
    amountMax: [(amount: string) => `At most ${amount}`, (amount: string) => `Не больше ${amount}`],
    amountWrong: [
      (amount: string) => `An amount from 0.01 to ${amount}`,
      (amount: string) => `Сумма от 0,01 до ${amount}`,
    ],
    reason: ['Reason', 'Причина'],
    reasonHint: ['For the audit log and the buyer', 'Для журнала и покупателя'],
    reasonNeeded: [
      'Required above 10,000: for the audit log and the buyer',
      'Обязательно для сумм больше 10 000: для журнала и покупателя',
    ],
    running: ['Working ...', 'Выполняем ...'],
    refused: ['Not done', 'Не выполнено'],
    done: {
      refund: [
        (status: string) => `The refund is recorded: ${status}.`,
        (status: string) => `Возврат записан: ${status.toLowerCase()}.`,
      ],
      cancel: ['The payment is cancelled.', 'Платёж отменён.'],
      capture: ['The payment is captured.', 'Деньги списаны.'],
    },
  },
  refund: {
    completed: ['Completed', 'Завершён'],
    statuses: {
      pending: ['Pending', 'В пути'],
      succeeded: ['Refunded', 'Возвращено'],
      failed: ['Failed', 'Не прошёл'],
    },
    empty: ['No refunds yet', 'Возвратов ещё нет'],
    emptyText: [
      'Open a paid payment and refund it, or let the shop do it by the API.',
      'Откройте оплаченный платёж и верните деньги — или это сделает магазин через API.',
    ],
    none: ['No refund fits these filters', 'Под фильтры не подходит ни один возврат'],
  },
  payout: {
    statuses: {
      pending: ['Pending', 'В пути'],
      succeeded: ['Paid out', 'Выплачено'],
      failed: ['Failed', 'Не прошла'],
    },
    methods: {
      payouts_sbp: ['SBP', 'СБП'],
      payouts_card: ['Card', 'Карта'],
      payouts_account: ['Account', 'Счёт'],
    },
    empty: ['No payouts yet', 'Выплат ещё нет'],
    emptyText: [
      'The API makes them, or two people: one proposes here, another approves.',
      'Их делает API или два человека: один предлагает здесь, другой одобряет.',
    ],
    none: ['No payout fits these filters', 'Под фильтры не подходит ни одна выплата'],
  },
  delivery: {
    statuses: {
      pending: ['Pending', 'В пути'],
      delivered: ['Delivered', 'Доставлен'],
      failed: ['Failed', 'Не доставлен'],
    },
    empty: ['No webhooks yet', 'Вебхуков ещё нет'],
    emptyText: [
      'The shop’s events are posted to its endpoints, which stand above.',
      'События магазина приходят на адреса, которые указаны выше.',
    ],
    none: ['No webhook has this status', 'С таким статусом вебхуков нет'],
    noneFailed: [
      'No webhook has failed for good; those on their way stand with their merchant',
      'Окончательно не доставленных нет; те, что в пути, видны у своего мерчанта',
    ],
    resend: ['Resend', 'Отправить ещё раз'],
    resent: ['It is being resent.', 'Отправляем ещё раз.'],
    resendText: [
      'The receiver gets the same bytes and event id with a fresh signature.',
      'Получатель увидит те же байты и тот же id события с новой подписью.',
    ],
    noAttempts: ['None yet', 'Ещё не было'],
    chooseMerchant: [
      'Choose a merchant above to see webhooks that were delivered, too.',
      'Выберите мерчанта сверху, чтобы видеть и доставленные вебхуки.',
    ],
  },
  alert: {
    open: ['Open', 'Открытые'],
    resolved: ['Resolved', 'Решённые'],
    kinds: {
      late_success: ['Late success', 'Поздний успех'],
      link_exhausted: ['A link without uses left was paid', 'Оплачена исчерпанная ссылка'],
      books_differ: ['The books differ', 'Расхождение в учёте'],
      reconciliation_difference: ['A registry differs', 'Расхождение в сверке'],
      event_without_delivery: ['An event lacks a delivery', 'Событие без доставки'],
      bank_answer_contradicts: ['The bank contradicts itself', 'Банк противоречит себе'],
      bank_echo_differs: ['The bank repeats another order', 'Банк ответил о другом заказе'],
      balance_at_bound: ['A balance is full', 'Баланс достиг предела'],
      dead_letter: ['Dead letter', 'Задача отложена'],
      receipt_failed: ['A receipt failed', 'Чек не пробит'],
      bank_degraded: ['A bank answers badly', 'Банк отвечает с ошибками'],
      success_falls: ['Fewer payments succeed', 'Доля успешных упала'],
      endpoint_fails: ['An endpoint takes no webhooks', 'Адрес не принимает вебхуки'],
      payout_stuck: ['A payout is stuck', 'Выплата застряла'],
      key_expires: ['A key ends soon', 'Ключ скоро истечёт'],
    },
    empty: ['No open alerts', 'Ничего не требует внимания'],
    emptyText: [
      'A new alert appears here within a second.',
      'Новое оповещение появится здесь в течение секунды.',
    ],
    resolve: ['Resolve', 'Решить'],
    note: ['Resolution', 'Чем закончилось'],
    resolvedBy: [
      (who: string, at: string) => `${who}, ${at}`,
      (who: string, at: string) => `${who}, ${at}`,
    ],
    done: ['The alert is resolved.', 'Оповещение закрыто.'],
  },
  auditLog: {
    empty: ['Nothing has been done yet', 'Записей ещё нет'],
    emptyText: [
      'Whatever people change is written here and stays.',
      'Сюда записываются все изменения, которые делают люди.',
    ],
    before: ['Before', 'Было'],
    after: ['After', 'Стало'],
    request: ['Request', 'Запрос'],
    platform: ['The platform', 'Платформа'],
  },
  ledger: {
    balance: ['Balance', 'Баланс'],
    available: ['Available', 'Доступно'],
    ofShop: [(shop: string) => `of ${shop}`, (shop: string) => `магазин «${shop}»`],
    movements: ['Movements', 'Движения'],
    types: {
      payment: ['Payment', 'Платёж'],
      fee: ['Fee', 'Комиссия'],
      refund: ['Refund', 'Возврат'],
      payout: ['Payout', 'Выплата'],
      payout_fee: ['Payout fee', 'Комиссия за выплату'],
      settlement: ['Settlement', 'Расчёт'],
      adjustment: ['Adjustment', 'Корректировка'],
    },
    empty: ['Nothing has moved yet', 'Движений ещё нет'],
    emptyText: [
      'Each paid payment books two lines: the payment and its fee.',
      'Оплаченный платёж даёт две строки: сам платёж и комиссию.',
    ],
    chooseMerchant: [
      'Choose a merchant to see its balance.',
      'Выберите мерчанта, чтобы увидеть его баланс.',
    ],
  },
  merchants: {
    add: ['Onboard a merchant', 'Подключить мерчанта'],
    empty: ['No merchants yet', 'Мерчантов ещё нет'],
    emptyText: [
      'Onboard one: it gets a shop and a test key at once.',
      'Подключите первого: он сразу получит магазин и тестовый ключ.',
    ],
    notLive: ['Test only', 'Только тест'],
    name: ['Name of the merchant', 'Название мерчанта'],
    shopName: ['Name of the shop', 'Название магазина'],
    shopHint: ['As buyers see it', 'Его видят покупатели'],
    create: ['Onboard', 'Подключить'],
    madeTitle: [(name: string) => `${name} is ready`, (name: string) => `«${name}» готов`],
    secretOnce: [
      'This key is shown once. Copy it now: it is kept as a digest.',
      'Ключ показывается один раз. Скопируйте его сейчас: хранится только отпечаток.',
    ],
    tryIt: ['A first payment:', 'Первый платёж:'],
    seePayments: ['See its payments', 'Смотреть платежи'],
    keys: ['Keys', 'Ключи'],
    endpoints: ['Webhook endpoints', 'Адреса вебхуков'],
    noEndpoints: ['None: events go nowhere.', 'Нет: события никуда не приходят.'],
    noKeys: ['None', 'Нет'],
    issue: ['Issue a key', 'Выпустить ключ'],
    keyWaits: [
      'This key can pay out: it works once another person has approved it. Copy it now, it is shown once.',
      'С этим ключом можно выплачивать: он заработает, когда его одобрит другой человек. Скопируйте его сейчас, он показывается один раз.',
    ],
    approve: ['Approve', 'Одобрить'],
    approveText: [
      (prefix: string) =>
        `Within a second, anyone who has ${prefix}... can pay out from this shop.`,
      (prefix: string) =>
        `Кто владеет ключом ${prefix}..., через секунду сможет выплачивать от имени магазина.`,
    ],
    approved: ['Approved: the key works.', 'Одобрено: ключ работает.'],
    waits: ['Waits for a second person', 'Ждёт второго человека'],
    ownKey: [
      'You requested it: another person must approve it',
      'Вы сами его запросили: одобряет другой человек',
    ],
    revoke: ['Revoke', 'Отозвать'],
    revokeText: [
      (prefix: string) => `${prefix}... works nowhere a second from now. For good.`,
      (prefix: string) => `${prefix}... перестанет работать через секунду. Насовсем.`,
    ],
    revoked: ['Revoked', 'Отозван'],
    expired: ['Expired', 'Истёк'],
    replace: ['Replace', 'Заменить'],
    used: ['used', 'использован'],
    neverUsed: ['never used', 'не использован'],
    addEndpoint: ['Add an endpoint', 'Добавить адрес'],
    endpointText: [
      'Events of the shop are posted here. The secret that signs them is shown once.',
      'Сюда будут приходить события магазина. Секрет подписи покажется один раз.',
    ],
    endpointSecret: [
      'This secret signs its webhooks and is shown once.',
      'Этим секретом подписаны вебхуки. Он показывается один раз.',
    ],
    allEvents: [
      'all events but those that must be chosen',
      'все события, кроме тех, что выбирают отдельно',
    ],
    notFound: [
      'There is no such merchant, or it is not within your reach.',
      'Такого мерчанта нет, или он вам недоступен.',
    ],
  },
  home: {
    hello: ['Needs attention', 'Требует внимания'],
    latest: ['Latest payments', 'Последние платежи'],
    see: ['See all', 'Смотреть все'],
  },
} satisfies WordTable;
