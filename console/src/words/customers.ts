/** The words of a customer's page, of notes on payments, and of erasing personal data. */
import { sectionWords } from './words.ts';

const en = {
  customer: 'Customer',
  noPayments: 'No payments with this reference',
  none: 'None.',
  all: 'All of them, with filters',
  notes: 'Notes',
  note: 'New note',
  noteHint: (most: string) =>
    `Read by everyone who may open the payment, the merchant’s people included. At most ${most} characters.`,
  add: 'Add the note',
  erased: 'Erased with the personal data of the payment.',
};

const ru: typeof en = {
  customer: 'Клиент',
  noPayments: 'Нет платежей с таким номером клиента',
  none: 'Нет.',
  all: 'Все, с фильтрами',
  notes: 'Заметки',
  note: 'Новая заметка',
  noteHint: (most) =>
    `Видят все, кому доступен платёж, в том числе люди мерчанта. Не больше ${most} знаков.`,
  add: 'Добавить заметку',
  erased: 'Удалена вместе с персональными данными платежа.',
};

export const useCustomerWords = sectionWords(en, ru);

const erasureEn = {
  title: 'Erase personal data',
  of: {
    payment:
      'Card mask, cardholder, phone, bank and the texts about the buyer go for good, from the payment and its receipts. Amounts, statuses and the books stay.',
    payout:
      'Phone, name, card, account and tax number of the recipient go for good, and the reasons of its draft. Amounts, statuses and the books stay.',
    customer:
      'Everything personal of this customer goes for good: from final payments, cancelled saved methods and cancelled subscriptions of the merchant. Amounts, statuses and the books stay.',
  },
  noWay: 'It cannot be undone.',
  customer: 'Customer',
  customerHint: 'The reference of the merchant, as it stands in its payments',
  customerTitle: 'Erase data of a customer',
  section: 'Personal data',
  sectionText: 'A customer asks to be forgotten: what is final loses their data at once.',
  reason: 'Why',
  reasonHint: 'It is written to the audit log: do not name the person',
  done: (payments: string, payouts: string, tokens: string, subscriptions: string) =>
    `Erased. Payments: ${payments}, payouts: ${payouts}, saved methods: ${tokens}, subscriptions: ${subscriptions}.`,
  left: (count: string) =>
    `Not final yet and left as they are: ${count}. Cancel them or wait, then erase again.`,
  running: (count: string) => `Erased in payments so far: ${count}`,
};

const erasureRu: typeof erasureEn = {
  title: 'Удалить персональные данные',
  of: {
    payment:
      'Маска карты, имя держателя, телефон, банк и тексты о покупателе удаляются безвозвратно, из платежа и его чеков. Суммы, статусы и проводки остаются.',
    payout:
      'Телефон, имя, карта, счёт и ИНН получателя удаляются безвозвратно, как и причины в черновике. Суммы, статусы и проводки остаются.',
    customer:
      'Все данные этого покупателя удаляются безвозвратно: из завершённых платежей, отключённых способов оплаты и отменённых подписок мерчанта. Суммы, статусы и проводки остаются.',
  },
  noWay: 'Вернуть их нельзя.',
  customer: 'Покупатель',
  customerHint: 'Идентификатор у мерчанта, как в платежах',
  customerTitle: 'Удалить данные покупателя',
  section: 'Персональные данные',
  sectionText: 'По запросу покупателя его данные сразу удаляются из завершённых операций.',
  reason: 'Причина',
  reasonHint: 'Останется в журнале: не называйте человека',
  done: (payments, payouts, tokens, subscriptions) =>
    `Удалено. Платежи: ${payments}, выплаты: ${payouts}, способы оплаты: ${tokens}, подписки: ${subscriptions}.`,
  left: (count) =>
    `Ещё не завершены и не тронуты: ${count}. Отмените их или подождите и повторите удаление.`,
  running: (count) => `Удалено в платежах: ${count}`,
};
export const useErasureWords = sectionWords(erasureEn, erasureRu);
