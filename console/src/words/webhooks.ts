/** The words of webhooks: endpoints, deliveries, replays. */
import { sectionWords } from './table.ts';

export type WebhookWords = ReturnType<typeof useWebhookWords>;

export const useWebhookWords = sectionWords({
  endpoints: ['Endpoints', 'Адреса'],
  noEndpoints: ['No endpoint: events go nowhere.', 'Адреса нет: события никуда не уходят.'],
  disabled: ['Disabled', 'Отключён'],
  rate: (percent: string) => [`${percent} delivered in 24 hours`, `${percent} доставлено за сутки`],
  noRate: ['nothing in 24 hours', 'за сутки ничего не было'],
  pending: (count: string) => [`${count} pending`, `в пути: ${count}`],
  failing: (count: string) => [
    `${count} of them refused so far`,
    `из них пока не приняты: ${count}`,
  ],
  oldest: ['oldest from', 'старейший от'],
  next: ['next attempt', 'следующая попытка'],
  test: ['Send a test event', 'Отправить образец'],
  testing: ['Sending ...', 'Отправляем ...'],
  answered: (status: number, ms: string) => [
    `The receiver answered ${status} in ${ms}`,
    `Получатель ответил ${status} за ${ms}`,
  ],
  noAnswer: (why: string) => [`No answer: ${why}`, `Ответа нет: ${why}`],
  faults: {
    timeout: ['no answer in time', 'не ответил вовремя'],
    connection_refused: ['nothing listens at the address', 'по адресу никто не отвечает'],
    connection_lost: ['the connection broke off', 'соединение оборвалось'],
    unreachable: ['no way to the address', 'до адреса нет пути'],
    name_unknown: ['the name has no address', 'имя не находится'],
    target_forbidden: ['the address is not public or not https', 'адрес не публичный или не https'],
    tls: ['the certificate does not fit', 'сертификат не подходит'],
    endpoint_gone: [
      'not sent, the endpoint is off or deleted',
      'не отправлен, адрес отключён или удалён',
    ],
    secret_unreadable: ['not sent, the secret cannot be read', 'не отправлен, секрет не читается'],
    other: ['a network error', 'ошибка сети'],
  },
  replay: ['Replay failed ...', 'Повторить неудачные ...'],
  replayCount: (count: string) => [
    `Replay ${count} failed ...`,
    `Повторить неудачные: ${count} ...`,
  ],
  replayNone: ['Nothing has failed in 7 days', 'За 7 дней неудачных нет'],
  replayDisabled: ['Enable the endpoint first', 'Сначала включите адрес'],
  retry: ['Retry pending now', 'Отправить ждущие сейчас'],
  retryOne: ['Retry now', 'Отправить сейчас'],
  retryNone: ['Nothing is pending', 'Ничего не ждёт отправки'],
  retried: (count: string) => [`Being tried now: ${count}.`, `Отправляем сейчас: ${count}.`],
  replayTitle: ['Replay failed webhooks', 'Отправить неудачные вебхуки снова'],
  since: ['Of events since', 'По событиям начиная с'],
  counting: ['Counting ...', 'Считаем ...'],
  count: (count: string) => [
    `${count} failed webhooks will be resent, oldest first.`,
    `Снова уйдёт вебхуков: ${count}, начиная со старейшего.`,
  ],
  countMore: (count: string) => [
    `More than ${count} failed webhooks will be resent.`,
    `Снова уйдёт вебхуков: больше ${count}.`,
  ],
  countNone: ['No webhook of this time has failed.', 'За это время неудачных вебхуков нет.'],
  go: ['Replay', 'Отправить'],
  progress: (sent: string) => [`${sent} queued`, `поставлено в очередь: ${sent}`],
  stopped: (sent: string) => [
    `Stopped after ${sent}. The rest stays failed.`,
    `Остановлено, поставлено в очередь: ${sent}. Остальные не тронуты.`,
  ],
  finished: (sent: string) => [`${sent} are being resent.`, `Отправляются снова: ${sent}.`],
  body: ['Body', 'Тело'],
  pretty: ['Pretty', 'Удобно для чтения'],
  bytes: ['Raw', 'Как отправлено'],
  masked: [
    'The recipient is masked here. Your server receives it whole.',
    'Получатель здесь скрыт. Ваш сервер получает его полностью.',
  ],
  headers: ['Headers of each attempt', 'Заголовки каждой попытки'],
  gone: [
    'The event is no longer kept, and cannot be sent again.',
    'Событие больше не хранится, отправить его снова нельзя.',
  ],
  curl: ['Send it yourself', 'Отправить самому'],
  curlText: [
    'SECRET is the secret of the endpoint. The signature is made again, because receivers refuse one that is older than 5 minutes.',
    'SECRET — секрет адреса. Подпись делается заново: старше 5 минут её не примут.',
  ],
  verify: ['Verify it', 'Проверить подпись'],
  verifyMore: ['In other languages', 'На других языках'],
});
