/** The words of the request log. */
import { sectionWords } from './table.ts';

export const useRequestWords = sectionWords({
  intro: [
    'Calls with this shop’s keys of the last 7 days that were refused or failed, and those that created something. A call appears within 5 seconds.',
    'Вызовы с ключами магазина за последние 7 дней: с отказом, с ошибкой и те, что что-то создали. Вызов появляется в течение 5 секунд.',
  ],
  find: [
    'Request id, idempotency key, path, key or id of an object',
    'Id запроса, ключ идемпотентности, путь, ключ или id объекта',
  ],
  groups: {
    '2xx': ['Created', 'Создали'],
    '4xx': ['Refused', 'С отказом'],
    '5xx': ['Failed', 'С ошибкой'],
  },
  statuses: ['Status', 'Ответ'],
  exact: ['Exact status', 'Точный код'],
  to: ['To', 'По'],
  call: ['Call', 'Вызов'],
  status: ['Status', 'Ответ'],
  code: ['Code', 'Причина'],
  key: ['Key', 'Ключ'],
  took: ['Duration', 'Длительность'],
  requestId: ['Request id', 'Id запроса'],
  idempotencyKey: ['Idempotency key', 'Ключ идемпотентности'],
  request: ['Request body', 'Тело запроса'],
  response: ['Response body', 'Тело ответа'],
  noBody: ['None', 'Нет'],
  masked: [
    'Personal data and secrets are masked: ***',
    'Персональные данные и секреты скрыты: ***',
  ],
  made: ['It created', 'Создано'],
  kinds: {
    payment: ['Payment', 'Платёж'],
    payout: ['Payout', 'Выплата'],
    link: ['Payment link', 'Платёжная ссылка'],
    subscription: ['Subscription', 'Подписка'],
  },
  empty: ['No such calls in the last 7 days', 'За 7 дней таких вызовов не было'],
  emptyText: [
    'Nothing was refused, nothing failed, and nothing was created with this shop’s keys.',
    'С ключами магазина ничего не отклонено, не сорвалось и не создано.',
  ],
  gone: [
    'There is no such call. Calls are kept for 7 days.',
    'Такого вызова нет. Вызовы хранятся 7 дней.',
  ],
  madeBy: ['Created by', 'Создан'],
  creating: ['The call that created it', 'Вызов, который его создал'],
});
export type RequestWords = ReturnType<typeof useRequestWords>;
