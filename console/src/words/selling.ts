/** The words of test payments and payment links that are made in the console. */
import { sectionWords, type Pair } from './table.ts';
import type * as graph from '../../../schema/generated/console.ts';

export const sellingWords = sectionWords({
  test: ['Make a test payment', 'Создать тестовый платёж'],
  testText: [
    'A payment in test mode, as a program would make it. Open its page and pay: no money moves.',
    'Платёж в тестовом режиме, такой же, как создаёт программа. Откройте страницу и оплатите: деньги не двигаются.',
  ],
  testDone: (number: string) => [`The payment ${number} is there.`, `Платёж ${number} создан.`],
  openPage: ['Open its page', 'Открыть страницу'],
  openPayment: ['Open the payment', 'Открыть платёж'],
  link: ['New payment link', 'Новая платёжная ссылка'],
  linkText: {
    test: [
      'Anyone with the address can pay at the simulated bank.',
      'Платить сможет любой, у кого есть адрес; банк ненастоящий.',
    ],
    live: [
      'Anyone with the address can pay real money to this shop.',
      'Платить магазину настоящие деньги сможет любой, у кого есть адрес.',
    ],
  },
  linkDone: [
    'The link is there. Send its address to the buyer.',
    'Ссылка готова. Отправьте адрес покупателю.',
  ],
  outcome: ['Outcome at the simulated bank', 'Ответ ненастоящего банка'],
  outcomes: {
    succeeded: ['succeeds', 'успех'],
    do_not_honor: ['declined: do_not_honor', 'отказ: do_not_honor'],
    insufficient_funds: ['declined: insufficient_funds', 'отказ: insufficient_funds'],
    expired_card: ['declined: expired_card', 'отказ: expired_card'],
    fraud_suspected: ['declined: fraud_suspected', 'отказ: fraud_suspected'],
    requires_action: ['asks for a code (3-D Secure)', 'спросит код (3-D Secure)'],
    pending: ['never answers', 'не ответит никогда'],
  },
  anyMethod: ['the buyer chooses', 'выбирает покупатель'],
  manual: ['Hold first, capture later (two-step)', 'Сначала удержать, списать потом (две стадии)'],
  receipt: ['With a receipt', 'С чеком'],
  receiptRequired: ['With a receipt: the shop requires it', 'С чеком: магазин его требует'],
  email: ['E-mail for the receipt', 'E-mail для чека'],
  vat: ['VAT code of the receipt', 'Код НДС в чеке'],
  vatHint: ['1 to 12; 1 is without VAT', 'От 1 до 12; 1 — без НДС'],
  item: ['Test goods', 'Тестовый товар'],
  descriptionHint: ['Buyers see it on the page.', 'Покупатель видит его на странице.'],
  order: ['Order number', 'Номер заказа'],
  orderHint: ['May be empty', 'Можно не указывать'],
  sum: ['The amount is set by', 'Сумму задаёт'],
  sums: {
    fixed: ['the shop', 'магазин'],
    open: ['the buyer', 'покупатель'],
  },
  least: (currency: string) => [`At least, ${currency}`, `Не меньше, ${currency}`],
  most: (currency: string) => [`At most, ${currency}`, `Не больше, ${currency}`],
  uses: ['Can be paid', 'Оплатить можно'],
  usesOnce: ['once', 'один раз'],
  usesEndless: ['any number of times', 'сколько угодно раз'],
  days: ['Open for days', 'Открыта дней'],
  daysHint: ['1 to 365', 'От 1 до 365'],
});

/* The words of payment links. */

export const linkWords = sectionWords({
  one: ['Payment link', 'Платёжная ссылка'],
  anyMethod: ['Any', 'Любой'],
  statuses: {
    active: ['Open', 'Открыта'],
    paid: ['Used up', 'Исчерпана'],
    expired: ['Expired', 'Истекла'],
    deactivated: ['Ended', 'Закрыта'],
  } satisfies Readonly<Record<graph.PaymentLinkStatus, Pair<string>>>,
  amountAny: ['Any amount', 'Любая сумма'],
  amountFrom: (least: string) => [`from ${least}`, `от ${least}`],
  amountTo: (most: string) => [`up to ${most}`, `до ${most}`],
  amountBetween: (least: string, most: string) => [`${least} to ${most}`, `${least} – ${most}`],
  uses: ['Uses left', 'Осталось оплат'],
  usesOf: (left: number, all: number) => [`${left} of ${all}`, `${left} из ${all}`],
  endless: ['without a limit', 'без ограничения'],
  noPayments: ['None yet', 'Пока нет'],
  paid: ['Paid', 'Оплачено по ней'],
  ends: ['Open until', 'Открыта до'],
  ended: ['Ended', 'Завершена'],
  returnUrl: ['Returns to', 'Возврат на'],
  capture: ['Capture', 'Списание'],
  captures: {
    automatic: ['automatic', 'сразу'],
    manual: ['manual: held first', 'сначала удержание'],
  },
  empty: ['No payment links yet', 'Платёжных ссылок ещё нет'],
  emptyText: [
    'Make one above, or by POST /v1/public/links. It can be paid once or many times.',
    'Создайте её выше или через POST /v1/public/links. По ссылке платят один раз или много раз.',
  ],
  open: ['Open its page', 'Открыть страницу'],
  end: ['End the link', 'Закрыть ссылку'],
  endText: [
    'No new payment can begin through it, for good. Payments that were begun can still be paid.',
    'Начать оплату по ней больше будет нельзя. Уже начатое ещё можно оплатить.',
  ],
  endDone: ['The link has ended.', 'Ссылка закрыта.'],
});
