/** The words of alerts beyond their kinds, and of the audit log's filters. */
import { sectionWords } from './words.ts';

const en = {
  actors: { key: 'API key', service: 'the service', edge: 'the service', buyer: 'buyer' },
  sentences: {
    late_success:
      'A bank took money for a payment that had ended. It is refunded automatically; check that it is.',
    link_exhausted:
      'A link without uses left was paid. The money is refunded automatically; check that it is.',
    books_differ: 'Sums of the books do not agree. Nothing is corrected automatically.',
    reconciliation_difference: 'A registry of the bank and our operations do not agree.',
    event_without_delivery: 'An event has no webhook: the shop may not know of it.',
    bank_answer_contradicts:
      'A bank has changed its answer after the end. Nothing has changed here; contact the bank.',
    bank_echo_differs:
      'A bank answers for another operation or amount. Nothing was moved; check with the bank.',
    balance_at_bound: 'A payment would exceed the bound of a balance: its money is in suspense.',
    dead_letter: 'A task fails on one row, sets it aside, and retries it automatically.',
    receipt_failed: 'The cash register refused a receipt. It can be sent again from its payment.',
    bank_degraded: 'Many calls to the bank fail. Payments may be declined or wait.',
    success_falls: 'Clearly fewer payments succeed than in the days before.',
    endpoint_fails: 'Nothing has been delivered to it for a day: the shop knows of nothing new.',
    payout_stuck: 'The bank has not said for hours what became of it. Ask the bank.',
    key_expires: 'A key that is in use stops working within a week. Replace it before.',
  },
  returnRefused:
    'A bank refused to refund money that came for a payment that had ended. It is in suspense: order the refund again.',
  retryRefund: 'Order the refund again',
  retryRefundText: 'The bank gets a new order for the whole amount.',
  refundRetried: (status: string) => `Ordered again. The refund: ${status}.`,
  severity: 'Severity',
  severities: { critical: 'Critical', warning: 'Warning' },
  assignee: 'Assignee',
  nobody: 'nobody',
  mine: 'Mine',
  unassigned: 'Unassigned',
  found: 'What was found',
  about: 'About',
  toSubject: 'Show it',
  toPayment: (name: string) => `Payment ${name}`,
  notAssigned: 'Not assigned',
  subject: 'Id of what was changed',
  actor: 'Who',
};

const ru: typeof en = {
  actors: { key: 'ключ API', service: 'сервис', edge: 'сервис', buyer: 'покупатель' },
  sentences: {
    late_success:
      'Банк взял деньги по уже закрытому платежу. Они вернутся сами; проверьте, что вернулись.',
    link_exhausted:
      'Оплачена ссылка, по которой платежей больше не ждали. Деньги вернутся сами; проверьте это.',
    books_differ: 'Суммы в учёте не сходятся. Сами они не исправятся.',
    reconciliation_difference: 'Реестр банка и наши операции не сошлись.',
    event_without_delivery: 'У события нет вебхука: магазин мог о нём не узнать.',
    bank_answer_contradicts:
      'Банк изменил ответ, когда всё уже закончилось. У нас ничего не изменилось; спросите банк.',
    bank_echo_differs:
      'Банк отвечает о другой операции или сумме. Деньги не двигались; выясните, что верно у банка.',
    balance_at_bound: 'Баланс достиг предела: деньги платежа отложены.',
    dead_letter:
      'Фоновая задача не может обработать одну запись: она пропущена, попытки повторяются.',
    receipt_failed: 'Касса не приняла чек. Отправить его ещё раз можно из платежа.',
    bank_degraded: 'Много запросов в банк не удаётся. Платежи могут отклоняться или ждать.',
    success_falls: 'Успешных платежей заметно меньше, чем в прошлые дни.',
    endpoint_fails: 'За сутки туда ничего не доставлено: магазин не знает ни о чём новом.',
    payout_stuck: 'Банк часами не говорит, что с ней. Спросите банк.',
    key_expires: 'Рабочий ключ перестанет действовать в течение недели. Замените его заранее.',
  },
  returnRefused:
    'Банк отказался вернуть деньги, которые пришли по уже закрытому платежу. Они отложены: закажите возврат ещё раз.',
  retryRefund: 'Заказать возврат ещё раз',
  retryRefundText: 'Банк получит новое поручение на всю сумму.',
  refundRetried: (status) => `Заказано ещё раз. Возврат: ${status}.`,
  severity: 'Срочность',
  severities: { critical: 'Критично', warning: 'Важно' },
  assignee: 'Занимается',
  nobody: 'никто',
  mine: 'Мои',
  unassigned: 'Ничьи',
  found: 'Что найдено',
  about: 'О чём',
  toSubject: 'Показать',
  toPayment: (name) => `Платёж ${name}`,
  notAssigned: 'Не назначено',
  subject: 'Id объекта',
  actor: 'Кто',
};

export type AlertWords = typeof en;

export const useAlertWords = sectionWords(en, ru);
