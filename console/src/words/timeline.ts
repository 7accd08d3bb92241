/** The words of one payment's timeline. */
import type * as graph from '../../../schema/generated/console.ts';
import { plural, sectionWords, type CodePairs, type Pair } from './table.ts';

const calls: CodePairs = {
  openSession: ['order', 'заказ'],
  ask: ['asked for the state', 'запрос состояния'],
  cancelOrder: ['cancelling the order', 'отмена заказа'],
  refund: ['refund', 'возврат'],
  settleHold: ['hold settled', 'решение по удержанию'],
  charge: ['saved method charged', 'списание с сохранённого способа'],
};

const answers: CodePairs = {
  approved: ['approved', 'одобрено'],
  declined: ['declined', 'отклонено'],
  pending: ['not decided yet', 'ещё не решено'],
  unknown: ['not known there', 'банку не известно'],
  unseen: ['not seen there yet', 'банк его ещё не видел'],
  registered: ['registered', 'зарегистрировано'],
  captured: ['captured', 'списано'],
  released: ['released', 'освобождено'],
  authorized: ['held', 'удержано'],
  unaccepted: ['not accepted', 'не принято'],
  failed: ['failed', 'не прошло'],
  opened: ['opened', 'открыт'],
  answered: ['answered', 'есть ответ'],
  threw: ['no answer', 'ответа нет'],
};

export const timelineWords = sectionWords({
  title: ['Timeline', 'Что происходило'],
  statuses: {
    pending: ['Created', 'Создан'],
    processing: ['The buyer went to pay', 'Покупатель перешёл к оплате'],
    authorized: ['The bank holds the money', 'Банк удержал деньги'],
    succeeded: ['Paid: the bank confirmed', 'Оплачен: банк подтвердил'],
    failed: ['Failed', 'Завершился без успеха'],
    expired: ['Expired: not paid in time', 'Истёк: никто не оплатил вовремя'],
    cancelled: ['Cancelled', 'Отменён'],
    refunded: ['Refunded in full', 'Возвращён целиком'],
  } satisfies Readonly<Record<graph.PaymentStatus, Pair<string>>>,
  created: {
    key: ['Created by the key', 'Создан по ключу'],
    link: ['Created by a payment link', 'Создан платёжной ссылкой'],
    subscription: ['Created by a subscription', 'Создан подпиской'],
    token: ['Created for a saved method', 'Создан для сохранённого способа'],
  },
  opened: ['The page was opened', 'Страницу оплаты открыли'],
  kinds: {
    status: ['Status', 'Статус'],
    bank: ['Bank', 'Банк'],
    money: ['Money', 'Деньги'],
    refund: ['Refunds', 'Возвраты'],
    webhook: ['Webhooks', 'Вебхуки'],
    receipt: ['Receipts', 'Чеки'],
    person: ['People', 'Люди'],
  },
  all: ['All', 'Всё'],
  calls,
  answers,
  took: (time: string) => [`in ${time}`, `за ${time}`],
  times: (count: number) => [`${count} times`, `${count} ${plural(count, 'раз', 'раза', 'раз')}`],
  booked: (parts: string) => [`Booked: ${parts}`, `Учтено: ${parts}`],
  refund: (amount: string, status: string) => [
    `Refund of ${amount}: ${status.toLowerCase()}`,
    `Возврат ${amount}: ${status.toLowerCase()}`,
  ],
  webhook: (event: string, answer: string) => [
    `Webhook ${event}: ${answer}`,
    `Вебхук ${event}: ${answer}`,
  ],
  attempt: (number: number) => [`attempt ${number}`, `попытка ${number}`],
  failures: (count: number, last: string) => [
    `failed ${count} times, last ${last}`,
    `${count} ${plural(count, 'неудача', 'неудачи', 'неудач')}, последняя — ${last}`,
  ],
  receipts: {
    made: (type: string) => [`${type} is sent to the cash register`, `${type} отправлен в кассу`],
    registered: (type: string) => [`${type} is registered`, `${type} пробит`],
    failed: (type: string) => [
      `${type} was refused by the cash register`,
      `${type} не принят кассой`,
    ],
  },
  receiptTypes: {
    payment: ['Receipt of the payment', 'Чек платежа'],
    refund: ['Receipt of a refund', 'Чек возврата'],
    closing: ['Closing receipt', 'Закрывающий чек'],
  },
  nothing: ['Nothing of this kind has happened.', 'Такого с платежом не происходило.'],
  askBank: ['Ask the bank', 'Спросить банк'],
  askBankText: [
    'The bank is queried again about this payment. Money moves only by its answer.',
    'Банк спросят ещё раз, чем закончился платёж. Деньги двинутся только по его ответу.',
  ],
  asked: ['The bank is being asked.', 'Спрашиваем банк.'],
  resendWebhook: ['Resend webhook', 'Повторить вебхук'],
  resendWebhookText: [
    'The receiver gets the same bytes and event id with a fresh signature. It may have had them.',
    'Получатель увидит те же байты и id события с новой подписью. Возможно, они у него уже есть.',
  ],
  which: ['Which webhook', 'Какой вебхук'],
  resendReceipt: ['Resend receipt', 'Повторить чек'],
  resendReceiptText: [
    'The receipt that the cash register refused goes there again.',
    'Чек, который касса не приняла, отправится в неё ещё раз.',
  ],
  receiptSent: ['The receipt is being resent.', 'Чек отправлен ещё раз.'],
});
