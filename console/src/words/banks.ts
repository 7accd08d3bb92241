/** The words of the health of banks. */
import { sectionWords } from './words.ts';

const en = {
  explained:
    'Calls to banks over all merchants, up to ten seconds old. A decline is an answer; no answer is a failure.',
  span: 'Period',
  spans: { '6': '6 hours', '24': '24 hours', '48': '48 hours' },
  what: 'What',
  operations: { payment: 'Payment', refund: 'Refund', payout: 'Payout', recurrent: 'Charge' },
  methods: {
    sbp: 'SBP',
    cards: 'Card',
    tpay: 'T-Pay',
    sberpay: 'SberPay',
    card: 'to a card',
    account: 'to an account',
  },
  state: 'State',
  states: {
    answers: 'Healthy',
    unsteady: 'Degraded',
    open: 'Circuit open',
    half_open: 'Half-open',
  },
  rate: 'Answered',
  calls: 'Calls',
  failures: 'Failed',
  p50: 'Median',
  p95: '95 % within',
  measured: 'Measured',
  measuredOn:
    'The median and the 95th percentile are measured on the newest answers of the period: about 1,000, at most the last 100 of each 5 minutes in a process.',
  ms: (value: string) => `${value} ms`,
  over: (minutes: number) => `Calls by ${minutes} min`,
  table: 'The chart as a table',
  time: 'Time',
  breakers: 'Circuit breakers by process',
  process: 'Process',
  breaker: { closed: 'Closed', open: 'Open', half_open: 'Half-open' },
  since: 'Since',
  seen: 'Seen',
  empty: 'No bank was called in this period',
  emptyText: 'Choose a longer one, or the other mode.',
};

const ru: typeof en = {
  explained:
    'Вызовы банков по всем мерчантам, с задержкой до 10 секунд. Отказ банка — тоже ответ; при сбое ответа нет.',
  span: 'Период',
  spans: { '6': '6 часов', '24': '24 часа', '48': '48 часов' },
  what: 'Что',
  operations: { payment: 'Платёж', refund: 'Возврат', payout: 'Выплата', recurrent: 'Списание' },
  methods: {
    sbp: 'СБП',
    cards: 'карта',
    tpay: 'T-Pay',
    sberpay: 'SberPay',
    card: 'на карту',
    account: 'на счёт',
  },
  state: 'Состояние',
  states: { answers: 'Отвечает', unsteady: 'Со сбоями', open: 'Отключён', half_open: 'Проверка' },
  rate: 'С ответом',
  calls: 'Вызовов',
  failures: 'Сбоев',
  p50: 'Медиана',
  p95: '95 % за',
  measured: 'Замеров',
  measuredOn:
    'Медиана и 95-й процентиль измерены по последним ответам периода: около 1 000, от каждого процесса — до 100 последних за 5 минут.',
  ms: (value) => `${value} мс`,
  over: (minutes) => `Вызовы по ${minutes} мин`,
  table: 'График таблицей',
  time: 'Время',
  breakers: 'Предохранители по процессам',
  process: 'Процесс',
  breaker: { closed: 'Замкнут', open: 'Разомкнут', half_open: 'Пробный вызов' },
  since: 'С',
  seen: 'Записано',
  empty: 'За этот период банки не вызывались',
  emptyText: 'Выберите период длиннее или другой режим.',
};

export const useBankWords = sectionWords(en, ru);
