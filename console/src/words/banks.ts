/** The words of the health of banks. */
import { sectionWords } from './table.ts';

export const bankWords = sectionWords({
  explained: [
    'Calls to banks over all merchants, up to ten seconds old. A decline is an answer; no answer is a failure.',
    'Вызовы банков по всем мерчантам, с задержкой до 10 секунд. Отказ банка — тоже ответ; при сбое ответа нет.',
  ],
  spans: {
    '6': ['6 hours', '6 часов'],
    '24': ['24 hours', '24 часа'],
    '48': ['48 hours', '48 часов'],
  },
  what: ['What', 'Что'],
  operations: {
    payment: ['Payment', 'Платёж'],
    refund: ['Refund', 'Возврат'],
    payout: ['Payout', 'Выплата'],
    recurrent: ['Charge', 'Списание'],
  },
  methods: {
    sbp: ['SBP', 'СБП'],
    cards: ['Card', 'карта'],
    tpay: ['T-Pay', 'T-Pay'],
    sberpay: ['SberPay', 'SberPay'],
    card: ['to a card', 'на карту'],
    account: ['to an account', 'на счёт'],
  },
  state: ['State', 'Состояние'],
  states: {
    answers: ['Healthy', 'Отвечает'],
    unsteady: ['Degraded', 'Со сбоями'],
    open: ['Circuit open', 'Отключён'],
    half_open: ['Half-open', 'Проверка'],
  },
  rate: ['Answered', 'С ответом'],
  calls: ['Calls', 'Вызовов'],
  failures: ['Failed', 'Сбоев'],
  p50: ['Median', 'Медиана'],
  p95: ['95 % within', '95 % за'],
  measured: ['Measured', 'Замеров'],
  measuredOn: [
    'The median and the 95th percentile are measured on the newest answers of the period: about 1,000, at most the last 100 of each 5 minutes in a process.',
    'Медиана и 95-й процентиль измерены по последним ответам периода: около 1 000, от каждого процесса — до 100 последних за 5 минут.',
  ],
  ms: (value: string) => [`${value} ms`, `${value} мс`],
  over: (minutes: number) => [`Calls by ${minutes} min`, `Вызовы по ${minutes} мин`],
  table: ['The chart as a table', 'График таблицей'],
  time: ['Time', 'Время'],
  breakers: ['Circuit breakers by process', 'Предохранители по процессам'],
  process: ['Process', 'Процесс'],
  breaker: {
    closed: ['Closed', 'Замкнут'],
    open: ['Open', 'Разомкнут'],
    half_open: ['Half-open', 'Пробный вызов'],
  },
  since: ['Since', 'С'],
  seen: ['Seen', 'Записано'],
  empty: ['No bank was called in this period', 'За этот период банки не вызывались'],
});
