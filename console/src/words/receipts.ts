/** The words of receipts, and of making the closing one. */
import { sectionWords } from './words.ts';

const en = {
  statuses: { pending: 'Pending', registered: 'Registered', failed: 'Refused' },
  types: { payment: 'Payment', refund: 'Refund', closing: 'Closing' },
  type: 'For',
  document: 'Fiscal document',
  acts: 'Actions',
  empty: 'No receipts yet',
  emptyText: 'A payment that was made with a receipt has one as soon as its money has come.',
  none: 'No receipt fits these filters',
};
export type ReceiptWords = typeof en;

const ru: ReceiptWords = {
  statuses: { pending: 'В пути', registered: 'Пробит', failed: 'Не принят кассой' },
  types: { payment: 'Оплата', refund: 'Возврат', closing: 'Закрывающий' },
  type: 'За что',
  document: 'Фискальный документ',
  acts: 'Действия',
  empty: 'Чеков пока нет',
  emptyText: 'У платежа, созданного с чеком, чек появляется, как только пришли деньги.',
  none: 'С этими фильтрами чеков нет',
};

export const useReceiptWords = sectionWords(en, ru);

const closingEn = {
  title: 'Make the closing receipt',
  text: (amount: string) =>
    `The goods were handed over: the cash register makes a receipt of ${amount} as full payment, once. No money moves.`,
  to: 'E-mail or phone of the buyer',
  toHint: (mask: string) => `The receipt of the payment went to ${mask}: type the address whole`,
  toNew: 'An e-mail, or +7 and ten digits',
  recipient: 'Where the receipt goes',
  ownRecipient: (masks: string) => `To the address of the payment: ${masks}`,
  otherRecipient: 'To another address',
  alike: 'It looks like the address of the payment, but I mean another one',
  items: 'What was handed over',
  quantity: 'Quantity',
  price: (currency: string) => `Price, ${currency}`,
  left: '0 leaves the item out',
  sum: (sum: string) => `Sum of the items: ${sum}`,
  differs: (sum: string, amount: string) =>
    `Sum of the items: ${sum}. It must be ${amount}: what was captured less what was refunded.`,
  done: 'The closing receipt is on its way to the cash register.',
  returned: 'What is given back',
  returnedText: 'The payment has a receipt, so its refund needs one for the returned items.',
  more: (sum: string, most: string) => `Sum of the items: ${sum}. At most ${most} is left.`,
  partCapture:
    'The payment has a receipt, so a partial capture is possible only through the API, with its items. Here you can capture the whole hold.',
};

const closingRu: typeof closingEn = {
  title: 'Пробить закрывающий чек',
  text: (amount) =>
    `Товар передан: касса пробивает чек на ${amount} с признаком «полный расчёт», один раз. Деньги не движутся.`,
  to: 'Почта или телефон покупателя',
  toHint: (mask) => `Чек платежа ушёл на ${mask}: введите адрес целиком`,
  toNew: 'Почта или +7 и десять цифр',
  recipient: 'Куда отправить чек',
  ownRecipient: (masks) => `На адрес из платежа: ${masks}`,
  otherRecipient: 'На другой адрес',
  alike: 'Похож на адрес из платежа, но это другой',
  items: 'Что передано',
  quantity: 'Количество',
  price: (currency) => `Цена, ${currency}`,
  left: '0 убирает позицию',
  sum: (sum) => `Сумма позиций: ${sum}`,
  differs: (sum, amount) =>
    `Сумма позиций: ${sum}. Нужно ${amount}: списанное за вычетом возвратов.`,
  done: 'Закрывающий чек отправлен в кассу.',
  returned: 'Что возвращается',
  returnedText: 'У платежа есть чек: у возврата он тоже будет, на то, что возвращается.',
  more: (sum, most) => `Сумма позиций: ${sum}. Осталось не больше ${most}.`,
  partCapture:
    'У платежа есть чек, поэтому часть списывает только API, с перечнем позиций. Здесь можно списать удержанное целиком.',
};
export const useClosingWords = sectionWords(closingEn, closingRu);
