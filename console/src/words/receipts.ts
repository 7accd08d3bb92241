/** The words of receipts, and of making the closing one. */
import { sectionWords } from './table.ts';

export const receiptWords = sectionWords({
  statuses: {
    pending: ['Pending', 'В пути'],
    registered: ['Registered', 'Пробит'],
    failed: ['Refused', 'Не принят кассой'],
  },
  types: {
    payment: ['Payment', 'Оплата'],
    refund: ['Refund', 'Возврат'],
    closing: ['Closing', 'Закрывающий'],
  },
  type: ['For', 'За что'],
  document: ['Fiscal document', 'Фискальный документ'],
  empty: ['No receipts yet', 'Чеков пока нет'],
  emptyText: [
    'A payment that was made with a receipt has one as soon as its money has come.',
    'У платежа, созданного с чеком, чек появляется, как только пришли деньги.',
  ],
  none: ['No receipt fits these filters', 'С этими фильтрами чеков нет'],
});

export const closingWords = sectionWords({
  title: ['Make the closing receipt', 'Пробить закрывающий чек'],
  text: (amount: string) => [
    `The goods were handed over: the cash register makes a receipt of ${amount} as full payment, once. No money moves.`,
    `Товар передан: касса пробивает чек на ${amount} с признаком «полный расчёт», один раз. Деньги не движутся.`,
  ],
  to: ['E-mail or phone of the buyer', 'Почта или телефон покупателя'],
  toHint: (mask: string) => [
    `The receipt of the payment went to ${mask}: type the address whole`,
    `Чек платежа ушёл на ${mask}: введите адрес целиком`,
  ],
  toNew: ['An e-mail, or +7 and ten digits', 'Почта или +7 и десять цифр'],
  recipient: ['Where the receipt goes', 'Куда отправить чек'],
  ownRecipient: (masks: string) => [
    `To the address of the payment: ${masks}`,
    `На адрес из платежа: ${masks}`,
  ],
  otherRecipient: ['To another address', 'На другой адрес'],
  alike: [
    'It looks like the address of the payment, but I mean another one',
    'Похож на адрес из платежа, но это другой',
  ],
  items: ['What was handed over', 'Что передано'],
  quantity: ['Quantity', 'Количество'],
  price: (currency: string) => [`Price, ${currency}`, `Цена, ${currency}`],
  left: ['0 leaves the item out', '0 убирает позицию'],
  sum: (sum: string) => [`Sum of the items: ${sum}`, `Сумма позиций: ${sum}`],
  differs: (sum: string, amount: string) => [
    `Sum of the items: ${sum}. It must be ${amount}: what was captured less what was refunded.`,
    `Сумма позиций: ${sum}. Нужно ${amount}: списанное за вычетом возвратов.`,
  ],
  done: [
    'The closing receipt is on its way to the cash register.',
    'Закрывающий чек отправлен в кассу.',
  ],
  returned: ['What is given back', 'Что возвращается'],
  returnedText: [
    'The payment has a receipt, so its refund needs one for the returned items.',
    'У платежа есть чек: у возврата он тоже будет, на то, что возвращается.',
  ],
  more: (sum: string, most: string) => [
    `Sum of the items: ${sum}. At most ${most} is left.`,
    `Сумма позиций: ${sum}. Осталось не больше ${most}.`,
  ],
  partCapture: [
    'The payment has a receipt, so a partial capture is possible only through the API, with its items. Here you can capture the whole hold.',
    'У платежа есть чек, поэтому часть списывает только API, с перечнем позиций. Здесь можно списать удержанное целиком.',
  ],
});
