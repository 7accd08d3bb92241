/** The words of home and of reports: numbers, the closing of a span, what needs a person. */
import { sectionWords } from './words.ts';

const en = {
  today: 'Today',
  paid: 'Paid',
  successRate: 'Success rate',
  refunded: 'Refunded',
  paidOut: 'Payouts',
  noUsual: 'Nothing to compare with yet',
  usual: (weekday: string, value: string) => `${value} by this time on an average ${weekday}`,
  rates: 'The last 24 hours',
  byMethod: 'By method',
  byBank: 'By bank',
  codes: 'Why payments failed',
  now: 'Last 24 hours',
  earlier: 'The 24 hours before',
  succeeded: 'Succeeded',
  failed: 'Failed',
  noBank: 'No bank yet',
  noCode: 'Without a code',
  of: 'What',
  ofs: { payment: 'Payments', refund: 'Refunds', payout: 'Payouts' },
  by: 'Group by',
  bys: {
    nothing: 'Nothing',
    status: 'Status',
    method: 'Method',
    bank: 'Bank',
    failure_code: 'Failure code',
    shop: 'Shop',
  },
  span: 'Period',
  spans: {
    day: '48 hours',
    month: '30 days',
    quarter: '13 weeks',
    year: '12 months',
    days: 'Any days',
  },
  measure: 'Show',
  measures: { count: 'Count', money: 'Money' },
  totals: 'Totals',
  before: (days: string) =>
    `Second line: the preceding period of the same length (${days}) and the change.`,
  count: 'Count',
  amount: 'Ordered',
  money: 'Completed',
  fee: 'Fee',
  all: 'All',
  chart: (of: string, span: string, measure: string) =>
    `${of}, ${span}: ${measure.toLowerCase()}, by the time they were made`,
  hint: 'Arrow keys go from bar to bar',
  table: 'The same as a table',
  saveLabel: (format: string) => `Save the totals as ${format}`,
  from: (zone: string) => `From (${zone})`,
  until: (zone: string) => `Until, not included (${zone})`,
  preceding: (name: string) => `${name}, preceding period`,
  incomplete: 'Older days are still being counted.',
  explained: 'Counted at the moment of creation, with the present status.',
  zone: (zone: string) => `Days in ${zone}`,
  empty: 'Nothing in this period',
  emptyText: 'Choose a longer one, or the other mode.',
};

const ru: typeof en = {
  today: 'Сегодня',
  paid: 'Оплачено',
  successRate: 'Доля успешных',
  refunded: 'Возвращено',
  paidOut: 'Выплачено',
  noUsual: 'Пока не с чем сравнить',
  usual: (weekday, value) => `${value} — обычно к этому часу (${weekday})`,
  rates: 'Последние 24 часа',
  byMethod: 'По способам',
  byBank: 'По банкам',
  codes: 'Почему платежи не прошли',
  now: 'Последние 24 часа',
  earlier: 'Предыдущие 24 часа',
  succeeded: 'Успешно',
  failed: 'Отказ',
  noBank: 'Банк не выбран',
  noCode: 'Без кода',
  of: 'Что',
  ofs: { payment: 'Платежи', refund: 'Возвраты', payout: 'Выплаты' },
  by: 'Разбить',
  bys: {
    nothing: 'Не разбивать',
    status: 'По статусам',
    method: 'По способам',
    bank: 'По банкам',
    failure_code: 'По кодам отказа',
    shop: 'По магазинам',
  },
  span: 'Период',
  spans: {
    day: '48 часов',
    month: '30 дней',
    quarter: '13 недель',
    year: '12 месяцев',
    days: 'Любые дни',
  },
  measure: 'Показать',
  measures: { count: 'Число', money: 'Деньги' },
  totals: 'Итоги',
  before: (days) => `Вторая строка — предыдущий период такой же длины (${days}) и изменение.`,
  count: 'Число',
  amount: 'Заказано',
  money: 'Движение денег',
  fee: 'Комиссия',
  all: 'Всего',
  chart: (of, span, measure) => `${of}, ${span}: ${measure.toLowerCase()}, по времени создания`,
  hint: 'Стрелки переходят от столбца к столбцу',
  table: 'То же таблицей',
  saveLabel: (format: string) => `Сохранить итоги в ${format}`,
  from: (zone) => `С (${zone})`,
  until: (zone) => `До, не включая (${zone})`,
  preceding: (name) => `${name}, предыдущий период`,
  incomplete: 'Прежние дни ещё подсчитываются.',
  explained: 'Операции учтены по времени создания, в нынешнем состоянии.',
  zone: (zone) => `Сутки по времени ${zone}`,
  empty: 'За этот период ничего нет',
  emptyText: 'Выберите период длиннее или другой режим.',
};

/** The words. */
export const useReportWords = sectionWords(en, ru);
export type ReportWords = typeof en;

// The words of the closing of a span.

const closingEn = {
  tabs: { statistics: 'Statistics', closing: 'Closing' },
  month: 'Month',
  otherDays: 'Other days',
  first: 'From',
  last: 'To, that day included',
  show: 'Show',
  wrongDays: 'The first day is after the last one.',
  shop: 'Shop',
  allShops: 'All shops',
  opening: 'Opening balance',
  closing: 'Closing balance',
  kinds: {
    payment: 'Payments',
    fee: 'Fees',
    refund: 'Refunds',
    payout: 'Payouts',
    payoutFee: 'Payout fees',
    settlement: 'Settlements',
    adjustment: 'Adjustments',
  },
  explained: (zone: string) =>
    `The ledger's movements by the moment they were booked, days in ${zone}. Opening balance and movements make up the closing balance.`,
  reserved: (available: string, reserved: string) =>
    `Of the closing balance ${available} were available; ${reserved} were reserved for refunds and payouts under way.`,
  underWay: 'The last day has not ended: the numbers still change.',
  saveLabel: (format: string) => `Save the closing as ${format}`,
  firstDay: (zone: string) => `First day (${zone})`,
  lastDay: (zone: string) => `Last day (${zone})`,
  chooseMerchant: 'Choose a merchant to close its month.',
  chooseShop: 'Shop to show; the file has all of them',
};

const closingRu: typeof closingEn = {
  tabs: { statistics: 'Статистика', closing: 'Закрытие месяца' },
  month: 'Месяц',
  otherDays: 'Другие дни',
  first: 'С',
  last: 'По, включительно',
  show: 'Показать',
  wrongDays: 'Первый день позже последнего.',
  shop: 'Магазин',
  allShops: 'Все магазины',
  opening: 'Входящий остаток',
  closing: 'Исходящий остаток',
  kinds: {
    payment: 'Платежи',
    fee: 'Комиссии',
    refund: 'Возвраты',
    payout: 'Выплаты',
    payoutFee: 'Комиссии за выплаты',
    settlement: 'Расчёты',
    adjustment: 'Корректировки',
  },
  explained: (zone) =>
    `Движения по балансу, по времени учёта; сутки по времени ${zone}. Входящий остаток и движения дают исходящий.`,
  reserved: (available, reserved) =>
    `Из исходящего остатка доступно ${available}; ${reserved} отложено под возвраты и выплаты, которые ещё идут.`,
  underWay: 'Последний день ещё не кончился: числа изменятся.',
  saveLabel: (format: string) => `Сохранить закрытие в ${format}`,
  firstDay: (zone) => `Первый день (${zone})`,
  lastDay: (zone) => `Последний день (${zone})`,
  chooseMerchant: 'Выберите мерчанта, чтобы закрыть его месяц.',
  chooseShop: 'Магазин на экране; в файле будут все',
};

/** The words. */
export const useClosingWords = sectionWords(closingEn, closingRu);
export type ClosingWords = typeof closingEn;

// The words of what needs a person.

const neededEn = {
  webhooks: (count: string) => `Failed webhooks: ${count}`,
  draft: 'A payout to approve',
  refund: 'A refund to approve',
  difference: (kind: string) => `A registry differs: ${kind}`,
  yours: 'yours',
  take: 'Take it',
  replay: 'Replay ...',
  quiet: 'Nothing needs attention.',
  more: 'These are the newest: more waits in the sections.',
  held: (count: string) => `Held, not captured yet: ${count}`,
};

const neededRu: typeof neededEn = {
  webhooks: (count) => `Недоставленные вебхуки: ${count}`,
  draft: 'Выплата на одобрение',
  refund: 'Возврат на одобрение',
  difference: (kind) => `Расхождение с реестром: ${kind}`,
  yours: 'ваше',
  take: 'Взять',
  replay: 'Отправить снова ...',
  quiet: 'Сейчас ничего не требует внимания.',
  more: 'Это самые новые: остальное ждёт в разделах.',
  held: (count) => `Удержано, не списано: ${count}`,
};

/** The words. */
export const useNeededWords = sectionWords(neededEn, neededRu);
