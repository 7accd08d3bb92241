/** The hosted page in Russian. */
import type { SubscriptionPeriod, Words } from './words.ts';

// A payment that has failed is over: paying again is the shop's to offer.
const otherWay = 'Вернитесь в магазин и оплатите другой картой или другим способом.';
const callBank = 'Позвоните в свой банк или вернитесь в магазин и оплатите другим способом.';
const checkCard = 'Вернитесь в магазин, начните оплату заново и проверьте данные карты.';
const later =
  'Вернитесь в магазин и начните заново через несколько минут или оплатите другим способом.';

/** A noun after a number that ends in 1, in 2 to 4, and after any other. */
type NumberForms = Readonly<Record<'one' | 'few' | 'many', string>>;
const pluralRules = new Intl.PluralRules('ru');
const inNumber = (count: number, forms: NumberForms): string => {
  const form = pluralRules.select(count);
  return form === 'one' || form === 'few' ? forms[form] : forms.many;
};
const periods: Readonly<Record<SubscriptionPeriod, NumberForms>> = {
  day: { one: 'день', few: 'дня', many: 'дней' },
  week: { one: 'неделю', few: 'недели', many: 'недель' },
  month: { one: 'месяц', few: 'месяца', many: 'месяцев' },
  year: { one: 'год', few: 'года', many: 'лет' },
};

export const ru: Words = {
  language: 'ru',
  locale: 'ru-RU',
  languageName: 'Русский',
  languageChoice: 'Язык страницы',

  payTo: 'К оплате',
  order: 'Заказ',
  paymentNumber: 'Номер платежа',
  timeLeft: 'Осталось',
  secure: 'Безопасная оплата',
  footer: 'Данные для оплаты вы вводите только у своего банка.',
  footerCard: 'Данные карты уходят прямо в банк и нигде не сохраняются.',
  noScript:
    'Для оплаты нужен JavaScript. Включите его в настройках браузера и обновите страницу или откройте ссылку в другом браузере.',
  asleep: {
    title: 'Страница загрузилась не полностью.',
    text: 'Проверьте связь. Если сообщение не исчезает,',
  },
  asleepButton: 'Оплата ещё не загрузилась',
  reload: 'обновите страницу',
  pageTitle: (amount, shop) => `${amount} — ${shop}`,
  summaryLabel: 'Что вы оплачиваете',

  chooseMethod: 'Как вы хотите заплатить?',
  methods: {
    sbp: { name: 'СБП', hint: 'QR-код или приложение банка' },
    cards: { name: 'Банковская карта', hint: 'Мир, Visa, Mastercard, UnionPay' },
    tpay: { name: 'T-Pay', hint: 'В приложении Т-Банка' },
    sberpay: { name: 'SberPay', hint: 'В СберБанк Онлайн' },
  },
  beforePaying: {
    sbp: 'На следующем шаге появится QR-\u2060код. Отсканируйте его камерой телефона или откройте приложение своего банка.',
    cards: 'Введите данные карты. Банк может попросить подтвердить оплату.',
    tpay: 'Мы откроем T-Pay, чтобы вы подтвердили оплату в Т-Банке.',
    sberpay: 'Мы откроем SberPay, чтобы вы подтвердили оплату в СберБанк Онлайн.',
  },
  cardAtBank: 'Данные карты вы введёте на странице банка.',
  cardAgain:
    'Связь прервалась, и банк не получил карту. Деньги не списаны. Введите её ещё раз, заказ тот же.',
  noBuyer: {
    title: 'От вас ничего не нужно',
    text: 'Этот платёж спишется сохранённым способом. Страница покажет, чем он закончился.',
  },
  noMethods: {
    title: 'Оплатить пока нельзя',
    text: 'Магазин ещё не подключил этот способ оплаты. Сообщите ему об этом или попробуйте позже.',
  },
  link: {
    title: 'Сколько вы хотите заплатить?',
    amountLabel: 'Сумма',
    bounds: (least, most) => `От ${least} до ${most}`,
    amountWrong: (least, most) => `Введите сумму от ${least} до ${most}, например 1500 или 99,90`,
    hint: 'Способ оплаты — на следующем шаге.',
    goOn: 'Продолжить',
    ended: {
      paid: {
        title: 'Ссылка уже оплачена',
        text: 'Второй раз по ней заплатить нельзя. Если платили не вы, попросите у магазина другую.',
      },
      expired: {
        title: 'Срок ссылки истёк',
        text: 'Деньги не списаны. Попросите у магазина новую ссылку.',
      },
      deactivated: {
        title: 'Магазин закрыл эту ссылку',
        text: 'Деньги не списаны. Попросите у магазина новую ссылку.',
      },
    },
  },
  pay: (amount) => `Оплатить ${amount}`,
  paying: 'Отправляем в банк…',

  saving: {
    cards: {
      consent: (shop) =>
        `${shop} сохранит карту и будет списывать с неё следующие платежи без подтверждения.`,
      verification: 'Банк проверит карту на 1 ₽. Деньги не спишутся.',
      verify: 'Сохранить карту',
      payAndSave: (amount) => `Оплатить ${amount} и сохранить карту`,
      saved: {
        title: 'Карта сохранена',
        text: 'Теперь магазин может списывать с неё оплату. Отвязать карту можно в магазине или в своём банке.',
      },
      notSaved: 'Карта не сохранена',
    },
    sbp: {
      consent: (shop) =>
        `${shop} привяжет ваш счёт через СБП и будет списывать с него следующие платежи без подтверждения.`,
      verification: 'Для проверки спишется 1 ₽, он сразу вернётся.',
      verify: 'Привязать счёт',
      payAndSave: (amount) => `Оплатить ${amount} и привязать счёт`,
      saved: {
        title: 'Счёт привязан',
        text: 'Теперь магазин может списывать с него оплату. Отвязать счёт можно в магазине или в приложении банка.',
      },
      notSaved: 'Счёт не привязан',
    },
    tpay: {
      consent: (shop) =>
        `${shop} привяжет T-Pay и будет списывать с него следующие платежи без подтверждения.`,
      verification: 'Для проверки спишется 1 ₽, он сразу вернётся.',
      verify: 'Привязать T-Pay',
      payAndSave: (amount) => `Оплатить ${amount} и привязать T-Pay`,
      saved: {
        title: 'T-Pay привязан',
        text: 'Теперь магазин может списывать с него оплату. Отвязать T-Pay можно в магазине или в Т-Банке.',
      },
      notSaved: 'T-Pay не привязан',
    },
  },
  subscription: {
    title: 'Подписка',
    plan: 'Тариф',
    priceLabel: 'Стоимость',
    price: (amount, period, count) =>
      count === 1
        ? `${amount} в ${periods[period].one}`
        : `${amount} раз в ${count} ${inNumber(count, periods[period])}`,
    trial: 'Бесплатно',
    days: (count) => `${count} ${inNumber(count, periods.day)}`,
    until: 'до',
    firstCharge: 'Первое списание',
    today: 'С этим платежом',
    nextCharge: 'Следующее списание',
    cancel: (host) =>
      `Отменить можно в любой момент ${host === null ? 'в магазине' : `на ${host}`}: после этого ничего не спишется.`,
    ended: 'Подписка закончилась: списаний больше не будет.',
  },
  footerSaving: 'Данные карты уходят прямо в банк. Магазин видит только последние 4 цифры.',

  cardNumber: 'Номер карты',
  cardExpiry: 'Срок действия',
  cardExpiryExample: 'ММ/ГГ',
  cardCvc: 'CVC',
  cardCvcHint: 'Три цифры на обороте',
  cardHolder: 'Имя на карте',
  optional: 'необязательно',
  cardHolderExample: 'IVAN IVANOV',
  testCards: 'Тестовые карты',
  testCardsHint: 'Нажмите, чтобы заполнить форму. Подойдёт и любой другой верный номер.',
  fillIn: (brand, number) => `${brand} ${number}, заполнить форму этой картой`,

  wait: {
    title: 'Банк проводит платёж',
    text: 'Обычно это занимает несколько секунд. Обновлять страницу не нужно.',
  },
  qr: {
    title: 'Оплатите через СБП',
    text: 'Наведите камеру телефона на QR-\u2060код или отсканируйте его в приложении банка.',
  },
  qrPhone: 'Откройте приложение своего банка. Или отсканируйте код с другого телефона.',
  qrLabel: 'QR-код для оплаты через СБП',
  qrOpen: 'Открыть приложение банка',
  qrHere: 'Открыть ссылку на этом устройстве',
  waitingForBank: 'Ждём подтверждения банка',
  redirect: (method) => ({
    title: `Подтвердите оплату в ${method}`,
    text: 'После подтверждения вернитесь на эту страницу, она обновится сама.',
  }),
  redirectGo: (method) => `Перейти в ${method}`,
  threeDSecure: {
    title: 'Банк просит подтвердить оплату',
    text: 'Откроется страница вашего банка: введите код или подтвердите оплату в приложении.',
  },
  threeDSecureGo: 'Перейти на страницу банка',

  succeeded: { title: 'Оплачено', text: 'Платёж прошёл. Магазин получит подтверждение.' },
  held: {
    title: 'Деньги удержаны',
    text: 'Банк удерживает сумму, от вас больше ничего не нужно. Магазин спишет её позже, целиком или частично; остальное снова станет доступно вам.',
  },
  captured: 'Списано',
  failed: 'Платёж не прошёл',
  notCharged: 'Деньги не списаны.',
  expired: 'Время вышло',
  cancelled: { title: 'Платёж отменён', text: 'Магазин отменил этот платёж. Деньги не списаны.' },
  refunded: {
    title: 'Деньги возвращены',
    text: 'Магазин вернул платёж целиком. Срок зачисления зависит от вашего банка.',
  },
  refunds: { pending: 'Возвращается', succeeded: 'Возвращено' },
  late: {
    title: 'Деньги вернутся к вам',
    text: 'Вся сумма возвращается автоматически, делать ничего не нужно. Срок зачисления зависит от вашего банка.',
    because: {
      expired: 'Банк подтвердил платёж, когда его время уже вышло.',
      cancelled: 'Банк подтвердил платёж, когда магазин его уже отменил.',
      failed: 'Банк подтвердил платёж уже после отказа.',
    },
  },
  lateReason: 'Платёж пришёл слишком поздно',

  date: 'Дата',
  moscowTime: 'МСК',
  paidWith: 'Способ',
  card: 'Карта',
  savedMethod: 'Сохранённый способ оплаты',
  brands: { mir: 'Мир', visa: 'Visa', mastercard: 'Mastercard', unionpay: 'UnionPay' },
  refundsLabel: 'Возвращённые деньги',
  fiscalReceipt: 'Кассовый чек',
  fiscalStates: { registered: 'Зарегистрирован', beingRegistered: 'Регистрируется' },
  print: 'Распечатать квитанцию',

  stuck: {
    fixed: {
      title: 'Нужен другой способ оплаты?',
      text: 'Этот платёж можно провести только так. Чтобы заплатить иначе, вернитесь в магазин и начните заново.',
    },
    atBank: {
      title: 'Не получается оплатить?',
      text: 'Сменить способ оплаты уже нельзя. Если в банке вы ещё ничего не подтвердили, вернитесь в магазин и начните заново: этот платёж закроется сам.',
    },
    waiting: {
      title: 'Долго ждать?',
      text: 'Ждать здесь необязательно: магазин узнает результат сам, а по этой ссылке он появится. Не платите второй раз, пока результат не известен.',
    },
  },
  toSite: (host) => `Перейти на ${host}`,
  backToShop: 'Вернуться в магазин',
  returning: 'Сейчас вернём вас в магазин…',
  closePage: 'Страницу можно закрыть.',
  keepPage: 'Эта страница — ваша квитанция. Ссылка продолжит работать.',
  failureCode: 'Код',
  failures: {
    do_not_honor: { reason: 'Банк отклонил платёж', advice: callBank },
    generic_decline: { reason: 'Банк отклонил платёж, не назвав причину', advice: callBank },
    insufficient_funds: {
      reason: 'На счёте не хватает денег',
      advice: 'Пополните счёт или выберите другой способ и начните оплату в магазине заново.',
    },
    limit_exceeded: {
      reason: 'Превышен лимит операций',
      advice:
        'Измените лимит в приложении банка или выберите другой способ и начните оплату в магазине заново.',
    },
    call_issuer: { reason: 'Банк просит связаться с ним', advice: callBank },
    expired_card: { reason: 'Срок действия карты истёк', advice: otherWay },
    invalid_card_number: { reason: 'Неверный номер карты', advice: checkCard },
    invalid_expiry: { reason: 'Неверный срок действия карты', advice: checkCard },
    incorrect_cvc: { reason: 'Неверный код CVC', advice: checkCard },
    lost_card: { reason: 'Банк заблокировал эту карту', advice: callBank },
    stolen_card: { reason: 'Банк заблокировал эту карту', advice: callBank },
    pickup_card: { reason: 'Банк заблокировал эту карту', advice: callBank },
    card_restricted: { reason: 'На карте стоят ограничения', advice: callBank },
    transaction_not_permitted: { reason: 'Карта не подходит для таких платежей', advice: otherWay },
    country_not_supported: { reason: 'Карты этой страны не принимаются', advice: otherWay },
    fraud_suspected: { reason: 'Банк остановил платёж ради безопасности', advice: callBank },
    authentication_failed: {
      reason: 'Платёж не подтверждён',
      advice: 'Вернитесь в магазин и начните заново: для оплаты нужно подтверждение в банке.',
    },
    authorization_revoked: { reason: 'Разрешение на списание отозвано', advice: otherWay },
    identification_required: {
      reason: 'Банк просит подтвердить личность',
      advice:
        'Пройдите идентификацию в приложении банка или выберите другой способ и начните оплату в магазине заново.',
    },
    account_not_found: { reason: 'Счёт не найден', advice: otherWay },
    issuer_unavailable: { reason: 'Ваш банк временно не отвечает', advice: later },
    processing_error: { reason: 'Технический сбой при проведении платежа', advice: later },
    session_expired: {
      reason: 'Банк не получил подтверждения вовремя',
      advice:
        'Вернитесь в магазин и начните заново. Если деньги всё же спишутся, они вернутся сами.',
    },
    link_expired: {
      reason: 'Срок действия ссылки на оплату истёк',
      advice: 'Деньги не списаны. Вернитесь в магазин и оформите оплату заново.',
    },
    capture_expired: {
      reason: 'Магазин не списал деньги вовремя',
      advice:
        'Деньги не списаны: банк освободит удержанную сумму. Если заказ ещё нужен, оформите его в магазине заново.',
    },
    method_unavailable: { reason: 'Этот способ оплаты временно недоступен', advice: later },
    unknown_bank_code: { reason: 'Банк отклонил платёж', advice: callBank },
  },

  testMode: 'Тестовый режим',
  testModeText: 'деньги не списываются',
  plan: 'Ответ банка',
  planSelect: 'Какой ответ даст учебный банк',
  planFails: 'Отказ',
  outcomes: {
    succeeded: 'Успешная оплата',
    requires_action: 'Подтверждение у банка',
    pending: 'Банк молчит',
    failed: 'Отказ',
  },

  bankName: 'Учебный банк',
  bankNotice: 'это имитация банка, деньги не списываются.',
  bankPageTitle: 'Подтверждение оплаты',
  bankShop: 'Магазин',
  bankAmount: 'Сумма',
  bankCode: {
    title: 'Введите код из сообщения',
    text: 'В тестовом режиме верны любые шесть цифр, а 000000 — неверный код.',
  },
  bankCodeLabel: 'Код подтверждения',
  bankCodeWrong: 'Введите шесть цифр.',
  bankApp: (method) => ({
    title: 'Подтвердите оплату',
    text: `Так выглядит для покупателя подтверждение в приложении: ${method}.`,
  }),
  bankApprove: 'Подтвердить',
  bankDecline: 'Отказаться',

  unknownPage: {
    title: 'Такой страницы оплаты нет',
    text: 'Проверьте, целиком ли скопирована ссылка, или попросите магазин прислать её ещё раз.',
  },
  brokenPage: {
    title: 'Страница не открылась',
    text: 'Это наша ошибка, с платежом ничего не случилось. Попробуйте ещё раз через минуту.',
  },
  busyPage: {
    title: 'Слишком много обращений сразу',
    text: 'С платежом ничего не случилось. Попробуйте ещё раз через несколько секунд.',
  },
  tryAgain: 'Попробовать ещё раз',

  refusals: {
    bad_request: 'Банк не принял эти данные. Проверьте их и попробуйте ещё раз.',
    not_pending: 'Платёж уже изменился, возможно в другой вкладке. Показываем, что с ним сейчас.',
    method_unsupported: 'Этот способ оплаты сейчас недоступен.',
    route_not_configured: 'Магазин пока не принимает этот способ оплаты.',
    live_not_enabled: 'Магазин сейчас не принимает оплату.',
    aml_blocked: 'Эта карта не принимается. Возьмите другую.',
    not_found: 'Такого платежа нет.',
    rate_limited:
      'Сейчас отсюда слишком много запросов. Попробуйте ещё раз через несколько секунд.',
  },
  refused: 'Не получилось. Попробуйте ещё раз.',

  browser: {
    numberEmpty: 'Введите номер карты',
    numberShort: 'В номере не хватает цифр',
    numberWrong: 'Проверьте номер: в нём опечатка',
    numberAmex: 'American Express не принимается. Подойдут Мир, Visa, Mastercard и UnionPay.',
    numberJcb: 'JCB не принимается. Подойдут Мир, Visa, Mastercard и UnionPay.',
    numberDiners: 'Diners Club не принимается. Подойдут Мир, Visa, Mastercard и UnionPay.',
    expiryEmpty: 'Введите срок действия',
    expiryWrong: 'Месяц и год, например 09/28',
    expiryPast: 'Срок действия карты истёк',
    cvcEmpty: 'Введите CVC',
    cvcWrong: 'Три цифры на обороте',
    holderEmpty: 'Введите имя, как на карте',
    holderWrong: 'Латинскими буквами, как на карте',
    offline: 'Нет связи. Страница обновится, как только связь вернётся.',
    unsure: 'Связь прервалась. Подождите: проверяем, начался ли платёж.',
    unsent:
      'Связь прервалась до начала платежа. Нажмите кнопку ещё раз: дважды деньги не спишутся.',
    filled: 'Форма заполнена тестовой картой',
  },
};
