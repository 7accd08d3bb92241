/** The words of a customer's page, and of notes on payments. */
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

/** The words. */
export const useCustomerWords = sectionWords(en, ru);
