/** The words of the request log. */
import { sectionWords } from './words.ts';

const en = {
  intro:
    'Calls with this shop’s keys of the last 7 days that were refused or failed, and those that created something. A call appears within 5 seconds.',
  find: 'Request id, idempotency key, path, key or id of an object',
  groups: { '2xx': 'Created', '4xx': 'Refused', '5xx': 'Failed' },
  statuses: 'Status',
  exact: 'Exact status',
  to: 'To',
  call: 'Call',
  status: 'Status',
  code: 'Code',
  key: 'Key',
  took: 'Duration',
  requestId: 'Request id',
  idempotencyKey: 'Idempotency key',
  request: 'Request body',
  response: 'Response body',
  noBody: 'None',
  masked: 'Personal data and secrets are masked: ***',
  made: 'It created',
  kinds: {
    payment: 'Payment',
    payout: 'Payout',
    link: 'Payment link',
    subscription: 'Subscription',
  },
  empty: 'No such calls in the last 7 days',
  emptyText: 'Nothing was refused, nothing failed, and nothing was created with this shop’s keys.',
  gone: 'There is no such call. Calls are kept for 7 days.',
  madeBy: 'Created by',
  creating: 'The call that created it',
};

const ru: typeof en = {
  intro:
    'Вызовы с ключами магазина за последние 7 дней: с отказом, с ошибкой и те, что что-то создали. Вызов появляется в течение 5 секунд.',
  find: 'Id запроса, ключ идемпотентности, путь, ключ или id объекта',
  groups: { '2xx': 'Создали', '4xx': 'С отказом', '5xx': 'С ошибкой' },
  statuses: 'Ответ',
  exact: 'Точный код',
  to: 'По',
  call: 'Вызов',
  status: 'Ответ',
  code: 'Причина',
  key: 'Ключ',
  took: 'Длительность',
  requestId: 'Id запроса',
  idempotencyKey: 'Ключ идемпотентности',
  request: 'Тело запроса',
  response: 'Тело ответа',
  noBody: 'Нет',
  masked: 'Персональные данные и секреты скрыты: ***',
  made: 'Создано',
  kinds: {
    payment: 'Платёж',
    payout: 'Выплата',
    link: 'Платёжная ссылка',
    subscription: 'Подписка',
  },
  empty: 'За 7 дней таких вызовов не было',
  emptyText: 'С ключами магазина ничего не отклонено, не сорвалось и не создано.',
  gone: 'Такого вызова нет. Вызовы хранятся 7 дней.',
  madeBy: 'Создан',
  creating: 'Вызов, который его создал',
};

export const useRequestWords = sectionWords(en, ru);
export type RequestWords = typeof en;
