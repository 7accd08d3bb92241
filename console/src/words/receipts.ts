/** The words of receipts. */
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

/** The words. */
export const useReceiptWords = sectionWords(en, ru);
