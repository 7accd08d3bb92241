/** The words of what is set for a merchant, its shops and their endpoints. */
import { sectionWords } from './table.ts';

export const settingsWords = sectionWords({
  general: ['Merchant', 'Мерчант'],
  support: ['Support refunds by itself', 'Поддержка возвращает сама'],
  supportSet: ['Limit refunds by support', 'Предел возвратов поддержки'],
  supportText: [
    'Support can refund up to this amount of a payment in total. It proposes larger refunds, and finance approves them. With 0, support proposes every refund.',
    'До этой суммы с одного платежа поддержка возвращает сама. Больше она предлагает, а одобряют финансы. При 0 она предлагает каждый возврат.',
  ],
  supportHint: ['At most, of one payment', 'Не больше, с одного платежа'],
  limit: ['Rate limit', 'Лимит запросов'],
  limitNow: (perSecond: string, burst: string) => [
    `${perSecond} a second, bursts of ${burst}`,
    `${perSecond} в секунду, разом до ${burst}`,
  ],
  limitSet: ['Change the rate limit', 'Изменить лимит'],
  limitText: [
    'All keys of the merchant share it, in force at once. Both fields empty: the default of the service.',
    'Его делят все ключи мерчанта, действует сразу. Оба поля пустые: лимит сервиса по умолчанию.',
  ],
  perSecond: ['Requests a second', 'Запросов в секунду'],
  burst: ['Burst, requests at once', 'Запросов разом'],
  limitHint: ['1 to 10,000', 'от 1 до 10 000'],
  burstHint: ['1 to 100,000', 'от 1 до 100 000'],
  rename: ['Rename', 'Переименовать'],
  renameText: [
    'Payments keep the names that they were created with.',
    'У платежей остаются названия, с которыми они созданы.',
  ],
  nameHint: ['1 to 200 characters', 'от 1 до 200 символов'],
  shopAdd: ['Add a shop', 'Добавить магазин'],
  shopText: [
    'A shop has keys and endpoints of its own; buyers see its name.',
    'У магазина свои ключи и адреса вебхуков; название видят покупатели.',
  ],
  receiptsOn: [
    'Required: payments without a receipt are refused',
    'Обязательны: платёж без чека отклоняется',
  ],
  receiptsOff: ['Not required', 'Не обязательны'],
  receiptsRequire: ['Require receipts', 'Требовать чеки'],
  receiptsRequireText: [
    'Payments, links, charges, subscriptions, and captures and refunds of a part are refused without a receipt from now on. Earlier ones stay as they are.',
    'Без чека отклоняются платежи, ссылки, списания, подписки, частичные списания и возвраты. Созданное раньше не меняется.',
  ],
  receiptsLift: ['Stop requiring receipts', 'Не требовать чеки'],
  receiptsLiftText: [
    'The shop may sell without a receipt from now on. With one it continues.',
    'Магазин сможет продавать без чека. Чеки, которые он передаёт, пробиваются.',
  ],
  renameShop: ['Rename the shop', 'Переименовать магазин'],
  secret: ['Webhook secret of the shop', 'Секрет вебхуков магазина'],
  secretText: [
    'It signs webhooks to addresses of payments while the shop has no endpoint.',
    'Подписывает вебхуки на адреса платежей, пока у магазина нет своего адреса.',
  ],
  rotate: ['New secret', 'Новый секрет'],
  rotateText: (name: string) => [
    `A new secret signs webhooks to ${name}. It is shown once.`,
    `Вебхуки на ${name} подпишет новый секрет. Он показывается один раз.`,
  ],
  rotateShop: [
    'addresses of payments, where the shop has no endpoint',
    'адреса платежей, если у магазина нет своего адреса',
  ],
  overlap: ['Both sign for so many hours', 'Сколько часов подписывают оба'],
  overlapHint: [
    '0 to 24; with 0 the old one stops at once',
    'от 0 до 24; 0: старый перестаёт действовать сразу',
  ],
  edit: ['Edit', 'Изменить'],
  editText: [
    'It applies to webhooks on their way, too.',
    'Действует и для вебхуков, которые уже в пути.',
  ],
  events: ['Events', 'События'],
  eventsHint: [
    'None chosen: all but refund.failed, payout.created and those of tokens and subscriptions, which come only when chosen',
    'Если не выбрано ни одно: все, кроме refund.failed, payout.created и событий токенов и подписок; их нужно выбрать',
  ],
  disable: ['Disable', 'Отключить'],
  disableText: [
    'Events make no deliveries to it any more; those on their way end as failed.',
    'Новые вебхуки на этот адрес не создаются, а те, что в пути, не будут доставлены.',
  ],
  enable: ['Enable', 'Включить'],
  enableText: [
    'Events from now on are delivered to it; those that failed meanwhile can be resent.',
    'Новые события доставляются; пропущенные можно отправить снова.',
  ],
  remove: ['Delete', 'Удалить'],
  removeText: [
    'Delivery stops for good; webhooks on their way end as failed.',
    'Доставка прекращается навсегда; вебхуки в пути не будут доставлены.',
  ],
  inactive: ['disabled', 'отключён'],
  signature: ['Signature', 'Подпись'],
  schemes: {
    v2: ['v2: time and body, HMAC-SHA256', 'v2: время и тело, HMAC-SHA256'],
    standard: ['Standard Webhooks: webhook-signature', 'Standard Webhooks: webhook-signature'],
    stripe: ['Stripe: Stripe-Signature', 'Stripe: Stripe-Signature'],
    legacy: ['legacy: body alone, without time', 'legacy: только тело, без времени'],
  },
  schemeHint: [
    'Change it together with the code that verifies signatures: the next attempt is signed in the new format.',
    'Меняйте вместе с кодом проверки: следующая попытка подписывается уже так.',
  ],
  schemeLegacy: [
    'A repeated webhook cannot be recognised; an overlap of two secrets ends.',
    'Повтор вебхука не распознать; если действуют два секрета, останется новый.',
  ],
  done: ['Saved.', 'Сохранено.'],
});

/* The words of who a merchant is, what it turns over and what it pays. */

export const profileWords = sectionWords({
  title: ['Details', 'Реквизиты'],
  text: [
    'Buyers see the legal name, the contacts and the offer on the payment page.',
    'Покупатель видит юридическое имя, контакты и оферту на странице оплаты.',
  ],
  none: [
    'Nothing is known yet. Before live mode, fill in at least the legal name, the INN and a contact: buyers see them.',
    'Пока ничего не заполнено. До боевого режима укажите хотя бы название, ИНН и контакт: их видят покупатели.',
  ],
  edit: ['Change the details', 'Изменить реквизиты'],
  editText: [
    'Buyers see it at once. A blank field is not shown.',
    'Покупатели увидят это сразу. Пустое поле не показывается.',
  ],
  done: ['Saved.', 'Сохранено.'],
  legalName: ['Legal name', 'Юридическое имя'],
  inn: ['INN', 'ИНН'],
  innHint: [
    '10 digits of a company, 12 of a sole proprietor',
    '10 цифр у компании, 12 у предпринимателя',
  ],
  contactEmail: ['E-mail for buyers', 'Почта для покупателей'],
  contactPhone: ['Phone for buyers', 'Телефон для покупателей'],
  phoneHint: ['For example +7 495 123-45-67', 'Например, +7 495 123-45-67'],
  siteUrl: ['Site', 'Сайт'],
  offerUrl: ['Public offer', 'Оферта'],
  urlHint: ['Begins with https://', 'Начинается с https://'],
  money: (mode: string) => [`Money, ${mode}`, `Деньги, ${mode}`],
  available: ['Available for payouts', 'Доступно для выплат'],
  turnover: ['Paid in 30 days', 'Оплачено за 30 дней'],
  payments: ['Payments in 30 days', 'Платежей за 30 дней'],
  share: ['Of them paid', 'Из них оплачено'],
  fees: ['Fees withheld in 30 days', 'Удержано комиссий за 30 дней'],
  ratesOf: ['Fees that are in force', 'Действующие комиссии'],
  from: ['Set at', 'Где задана'],
  levels: {
    platform: ['the platform', 'у платформы'],
    merchant: ['the merchant', 'у мерчанта'],
    shop: ['the shop', 'у магазина'],
  },
  noRate: ['nowhere', 'нигде'],
  since: ['since', 'с'],
  always: ['from the beginning', 'с самого начала'],
});
