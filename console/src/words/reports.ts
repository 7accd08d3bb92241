/** The words of home and of reports: numbers, the closing of a span, what needs a person. */
import { sectionWords } from './table.ts';

export const useReportWords = sectionWords({
  paid: ['Paid', 'Оплачено'],
  successRate: ['Success rate', 'Доля успешных'],
  refunded: ['Refunded', 'Возвращено'],
  paidOut: ['Payouts', 'Выплачено'],
  noUsual: ['Nothing to compare with yet', 'Пока не с чем сравнить'],
  usual: (weekday: string, value: string) => [
    `${value} by this time on an average ${weekday}`,
    `${value} — обычно к этому часу (${weekday})`,
  ],
  rates: ['The last 24 hours', 'Последние 24 часа'],
  byMethod: ['By method', 'По способам'],
  byBank: ['By bank', 'По банкам'],
  codes: ['Why payments failed', 'Почему платежи не прошли'],
  now: ['Last 24 hours', 'Последние 24 часа'],
  earlier: ['The 24 hours before', 'Предыдущие 24 часа'],
  succeeded: ['Succeeded', 'Успешно'],
  failed: ['Failed', 'Отказ'],
  noBank: ['No bank yet', 'Банк не выбран'],
  noCode: ['Without a code', 'Без кода'],
  of: ['What', 'Что'],
  ofs: {
    payment: ['Payments', 'Платежи'],
    refund: ['Refunds', 'Возвраты'],
    payout: ['Payouts', 'Выплаты'],
  },
  by: ['Group by', 'Разбить'],
  bys: {
    nothing: ['Nothing', 'Не разбивать'],
    status: ['Status', 'По статусам'],
    method: ['Method', 'По способам'],
    bank: ['Bank', 'По банкам'],
    failure_code: ['Failure code', 'По кодам отказа'],
    shop: ['Shop', 'По магазинам'],
  },
  span: ['Period', 'Период'],
  spans: {
    day: ['48 hours', '48 часов'],
    month: ['30 days', '30 дней'],
    quarter: ['13 weeks', '13 недель'],
    year: ['12 months', '12 месяцев'],
    days: ['Any days', 'Любые дни'],
  },
  measure: ['Show', 'Показать'],
  measures: {
    count: ['Count', 'Число'],
    money: ['Money', 'Деньги'],
  },
  totals: ['Totals', 'Итоги'],
  before: (days: string) => [
    `Second line: the preceding period of the same length (${days}) and the change.`,
    `Вторая строка — предыдущий период такой же длины (${days}) и изменение.`,
  ],
  count: ['Count', 'Число'],
  amount: ['Ordered', 'Заказано'],
  money: ['Completed', 'Движение денег'],
  fee: ['Fee', 'Комиссия'],
  all: ['All', 'Всего'],
  chart: (of: string, span: string, measure: string) => [
    `${of}, ${span}: ${measure.toLowerCase()}, by the time they were made`,
    `${of}, ${span}: ${measure.toLowerCase()}, по времени создания`,
  ],
  hint: ['Arrow keys go from bar to bar', 'Стрелки переходят от столбца к столбцу'],
  table: ['The same as a table', 'То же таблицей'],
  saveLabel: (format: string) => [`Save the totals as ${format}`, `Сохранить итоги в ${format}`],
  from: (zone: string) => [`From (${zone})`, `С (${zone})`],
  until: (zone: string) => [`Until, not included (${zone})`, `До, не включая (${zone})`],
  preceding: (name: string) => [`${name}, preceding period`, `${name}, предыдущий период`],
  incomplete: ['Older days are still being counted.', 'Прежние дни ещё подсчитываются.'],
  explained: [
    'Counted at the moment of creation, with the present status.',
    'Операции учтены по времени создания, в нынешнем состоянии.',
  ],
  zone: (zone: string) => [`Days in ${zone}`, `Сутки по времени ${zone}`],
  empty: ['Nothing in this period', 'За этот период ничего нет'],
  emptyText: [
    'Choose a longer one, or the other mode.',
    'Выберите период длиннее или другой режим.',
  ],
});
export type ReportWords = ReturnType<typeof useReportWords>;

export const useClosingWords = sectionWords({
  tabs: {
    statistics: ['Statistics', 'Статистика'],
    closing: ['Closing', 'Закрытие месяца'],
  },
  month: ['Month', 'Месяц'],
  otherDays: ['Other days', 'Другие дни'],
  first: ['From', 'С'],
  last: ['To, that day included', 'По, включительно'],
  show: ['Show', 'Показать'],
  wrongDays: ['The first day is after the last one.', 'Первый день позже последнего.'],
  shop: ['Shop', 'Магазин'],
  allShops: ['All shops', 'Все магазины'],
  opening: ['Opening balance', 'Входящий остаток'],
  closing: ['Closing balance', 'Исходящий остаток'],
  kinds: {
    payment: ['Payments', 'Платежи'],
    fee: ['Fees', 'Комиссии'],
    refund: ['Refunds', 'Возвраты'],
    payout: ['Payouts', 'Выплаты'],
    payoutFee: ['Payout fees', 'Комиссии за выплаты'],
    settlement: ['Settlements', 'Расчёты'],
    adjustment: ['Adjustments', 'Корректировки'],
  },
  explained: (zone: string) => [
    `The ledger's movements by the moment they were booked, days in ${zone}. Opening balance and movements make up the closing balance.`,
    `Движения по балансу, по времени учёта; сутки по времени ${zone}. Входящий остаток и движения дают исходящий.`,
  ],
  reserved: (available: string, reserved: string) => [
    `Of the closing balance ${available} were available; ${reserved} were reserved for refunds and payouts under way.`,
    `Из исходящего остатка доступно ${available}; ${reserved} отложено под возвраты и выплаты, которые ещё идут.`,
  ],
  underWay: [
    'The last day has not ended: the numbers still change.',
    'Последний день ещё не кончился: числа изменятся.',
  ],
  saveLabel: (format: string) => [
    `Save the closing as ${format}`,
    `Сохранить закрытие в ${format}`,
  ],
  firstDay: (zone: string) => [`First day (${zone})`, `Первый день (${zone})`],
  lastDay: (zone: string) => [`Last day (${zone})`, `Последний день (${zone})`],
  chooseMerchant: [
    'Choose a merchant to close its month.',
    'Выберите мерчанта, чтобы закрыть его месяц.',
  ],
  chooseShop: ['Shop to show; the file has all of them', 'Магазин на экране; в файле будут все'],
});
export type ClosingWords = ReturnType<typeof useClosingWords>;

export const useNeededWords = sectionWords({
  webhooks: (count: string) => [`Failed webhooks: ${count}`, `Недоставленные вебхуки: ${count}`],
  draft: ['A payout to approve', 'Выплата на одобрение'],
  refund: ['A refund to approve', 'Возврат на одобрение'],
  difference: (kind: string) => [`A registry differs: ${kind}`, `Расхождение с реестром: ${kind}`],
  yours: ['yours', 'ваше'],
  take: ['Take it', 'Взять'],
  replay: ['Replay ...', 'Отправить снова ...'],
  quiet: ['Nothing needs attention.', 'Сейчас ничего не требует внимания.'],
  more: [
    'These are the newest: more waits in the sections.',
    'Это самые новые: остальное ждёт в разделах.',
  ],
  held: (count: string) => [`Held, not captured yet: ${count}`, `Удержано, не списано: ${count}`],
});
