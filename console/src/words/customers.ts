/** The words of a customer's page, of notes on payments, and of erasing personal data. */
import { sectionWords } from './table.ts';

export const customerWords = sectionWords({
  customer: ['Customer', 'Клиент'],
  noPayments: ['No payments with this reference', 'Нет платежей с таким номером клиента'],
  none: ['None.', 'Нет.'],
  notes: ['Notes', 'Заметки'],
  note: ['New note', 'Новая заметка'],
  noteHint: (most: string) => [
    `Read by everyone who may open the payment, the merchant’s people included. At most ${most} characters.`,
    `Видят все, кому доступен платёж, в том числе люди мерчанта. Не больше ${most} знаков.`,
  ],
  add: ['Add the note', 'Добавить заметку'],
  erased: [
    'Erased with the personal data of the payment.',
    'Удалена вместе с персональными данными платежа.',
  ],
});

export const erasureWords = sectionWords({
  title: ['Erase personal data', 'Удалить персональные данные'],
  of: {
    payment: [
      'Card mask, cardholder, phone, bank and the texts about the buyer go for good, from the payment and its receipts. Amounts, statuses and the books stay.',
      'Маска карты, имя держателя, телефон, банк и тексты о покупателе удаляются безвозвратно, из платежа и его чеков. Суммы, статусы и проводки остаются.',
    ],
    payout: [
      'Phone, name, card, account and tax number of the recipient go for good, and the reasons of its draft. Amounts, statuses and the books stay.',
      'Телефон, имя, карта, счёт и ИНН получателя удаляются безвозвратно, как и причины в черновике. Суммы, статусы и проводки остаются.',
    ],
    customer: [
      'Everything personal of this customer goes for good: from final payments, cancelled saved methods and cancelled subscriptions of the merchant. Amounts, statuses and the books stay.',
      'Все данные этого покупателя удаляются безвозвратно: из завершённых платежей, отключённых способов оплаты и отменённых подписок мерчанта. Суммы, статусы и проводки остаются.',
    ],
  },
  noWay: ['It cannot be undone.', 'Вернуть их нельзя.'],
  customer: ['Customer', 'Покупатель'],
  customerHint: [
    'The reference of the merchant, as it stands in its payments',
    'Идентификатор у мерчанта, как в платежах',
  ],
  customerTitle: ['Erase data of a customer', 'Удалить данные покупателя'],
  section: ['Personal data', 'Персональные данные'],
  sectionText: [
    'A customer asks to be forgotten: what is final loses their data at once.',
    'По запросу покупателя его данные сразу удаляются из завершённых операций.',
  ],
  reason: ['Why', 'Причина'],
  reasonHint: [
    'It is written to the audit log: do not name the person',
    'Останется в журнале: не называйте человека',
  ],
  done: (payments: string, payouts: string, tokens: string, subscriptions: string) => [
    `Erased. Payments: ${payments}, payouts: ${payouts}, saved methods: ${tokens}, subscriptions: ${subscriptions}.`,
    `Удалено. Платежи: ${payments}, выплаты: ${payouts}, способы оплаты: ${tokens}, подписки: ${subscriptions}.`,
  ],
  left: (count: string) => [
    `Not final yet and left as they are: ${count}. Cancel them or wait, then erase again.`,
    `Ещё не завершены и не тронуты: ${count}. Отмените их или подождите и повторите удаление.`,
  ],
  running: (count: string) => [
    `Erased in payments so far: ${count}`,
    `Удалено в платежах: ${count}`,
  ],
});
