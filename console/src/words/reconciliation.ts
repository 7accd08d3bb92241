/** The words of the ledger: reconciliation, settlements, adjustments, balances. */
import type * as graph from '../../../schema/generated/console.ts';
import type { Mistake } from '../reconciliation/read-registry.ts';
import type { ChosenField } from '../reconciliation/registry-layouts.ts';
import { plural, sectionWords, type Pair } from './table.ts';

export const reconciliationWords = sectionWords({
  tabs: {
    differences: ['Differences', 'Расхождения'],
    runs: ['Registries', 'Реестры'],
  },
  upload: ['Upload a registry', 'Загрузить реестр'],
  uploadText: [
    'The acquirer’s registry is compared with our operations. Nothing moves: differences are listed for a person.',
    'Реестр эквайера сверяется с нашими операциями. Деньги не двигаются: расхождения увидит человек.',
  ],
  fileHint: ['CSV or XLSX as it came, up to 20 MB.', 'CSV или XLSX как пришёл, до 20 МБ.'],
  tooLarge: (mb: number) => [
    `The file is larger than ${mb} MB: take the registries of single days.`,
    `Файл больше ${mb} МБ: загрузите реестры по дням.`,
  ],
  noTable: ['this is no table of CSV or XLSX', 'это не таблица CSV или XLSX'],
  read: (kind: string, count: string, sum: string) => [
    `${kind}: ${count} for ${sum}`,
    `${kind}: ${count} на ${sum}`,
  ],
  readNone: [
    'The registry has no operations: ours are searched for in it.',
    'В реестре нет операций: будем искать в нём наши.',
  ],
  mistaken: (count: number) => [
    `Nothing was uploaded. Not understood: ${count}.`,
    `Ничего не загружено. Не разобрали: ${count}.`,
  ],
  mistake: (line: number, column: string, what: string) => [
    `Line ${line}, “${column}”: ${what}`,
    `Строка ${line}, «${column}»: ${what}`,
  ],
  mistakeOfLine: (line: number, what: string) => [
    `Line ${line}: ${what}`,
    `Строка ${line}: ${what}`,
  ],
  mistakes: {
    reference: ['no number of an operation', 'нет номера операции'],
    operation: ['no id of ours', 'это не наш идентификатор'],
    kind: ['neither a payment, a refund nor a payout', 'не платёж, не возврат и не выплата'],
    amount: ['no amount, such as 1 234.56', 'не сумма вида 1 234,56'],
    currency: ['no currency, such as RUB', 'не валюта вида RUB'],
    status: ['an unknown status', 'неизвестный статус'],
    at: ['no date, such as 22.08.2026 10:00:00', 'не дата вида 22.08.2026 10:00:00'],
    fee: ['no amount of a fee', 'не сумма комиссии'],
    cells: ['not as many cells as the heading has', 'ячеек не столько, сколько в заголовке'],
    above: [
      'a row above the heading looks like a line',
      'строка над заголовком похожа на операцию',
    ],
    count: [
      'the file names another number of operations than it has',
      'в файле указано другое число операций',
    ],
  } satisfies Readonly<Record<Mistake['wrong'], Pair<string>>>,
  unknownHead: (line: number) => [
    `The heading of the table is not known. Say what the columns of line ${line} are; dates are in Moscow time.`,
    `Заголовок таблицы незнаком. Укажите, что в столбцах строки ${line}; даты — по Москве.`,
  ],
  fields: {
    reference: ['Number at the acquirer', 'Номер у эквайера'],
    order: ['Order number (our payment id)', 'Номер заказа (id нашего платежа)'],
    kind: ['Payment or refund', 'Платёж или возврат'],
    amount: ['Amount', 'Сумма'],
    currency: ['Currency, else RUB', 'Валюта, иначе RUB'],
    at: ['Date, with or without time', 'Дата, со временем или без'],
    time: ['Time, if in its own column', 'Время, если отдельно'],
    fee: ['Fee', 'Комиссия'],
  } satisfies Readonly<Record<ChosenField, Pair<string>>>,
  allAre: {
    payment: ['All are payments', 'Всё — платежи'],
    refund: ['All are refunds', 'Всё — возвраты'],
  },
  connector: ['Acquirer', 'Эквайер'],
  connectors: {
    yookassa: ['YooKassa', 'ЮKassa'],
    tbank: ['T-Bank', 'Т-Банк'],
    simulator: ['Simulated bank', 'Учебный банк'],
  },
  since: ['Operations from', 'Операции с'],
  until: ['Before', 'До'],
  progress: (done: number, all: number) => [`Part ${done} of ${all}`, `Часть ${done} из ${all}`],
  uploaded: (lines: string) => [
    `${lines} lines are compared; the result is in the list in seconds.`,
    `Сверяем строки: ${lines}. Результат появится в списке через секунды.`,
  ],
  stopped: [
    'The same file continues where it stopped.',
    'Тот же файл продолжит с места остановки.',
  ],
  runStatuses: {
    open: ['Being uploaded', 'Загружается'],
    ready: ['Being compared', 'Сверяется'],
    matched: ['Agrees', 'Сошёлся'],
  } satisfies Readonly<Record<graph.ReconciliationStatus, Pair<string>>>,
  differs: ['Differs', 'Расходится'],
  young: (until: string, from: string) => [
    `Our operations since ${until} are too recent to count as missing; a registry matched after ${from} covers them.`,
    `Наши операции с ${until} ещё слишком свежи, чтобы искать их в реестрах: их проверит реестр, сверенный после ${from}.`,
  ],
  sides: {
    atBank: (what: string) => [`at the bank: ${what}`, `в банке: ${what}`],
    here: (what: string) => [`here: ${what}`, `у нас: ${what}`],
  },
  absent: ['none', 'нет'],
  sideStatuses: {
    succeeded: ['succeeded', 'прошло'],
    failed: ['failed', 'не прошло'],
    pending: ['pending', 'в пути'],
  },
  lines: ['Lines', 'Строк'],
  matched: ['Agree', 'Совпало'],
  differences: ['Differ', 'Разошлось'],
  openOf: (open: string, all: string) => [`${open} open of ${all}`, `${open} открыто из ${all}`],
  by: ['By', 'Кто'],
  runsEmpty: ['No registries yet', 'Реестров ещё нет'],
  runsEmptyText: [
    'Upload the file that an acquirer gives for a day.',
    'Загрузите файл, который эквайер отдаёт за день.',
  ],
  kinds: {
    amount_differs: ['Amount differs', 'Другая сумма'],
    currency_differs: ['Currency differs', 'Другая валюта'],
    status_differs: ['Status differs', 'Другой статус'],
    missing_here: ['Unknown here', 'У нас такого нет'],
    missing_at_bank: ['Not in the registry', 'Нет в реестре'],
    duplicate: ['Duplicate in the registry', 'В реестре дважды'],
  } satisfies Readonly<Record<graph.ReconciliationDifferenceKind, Pair<string>>>,
  operations: {
    payment: ['payment', 'платёж'],
    refund: ['refund', 'возврат'],
    payout: ['payout', 'выплата'],
  } satisfies Readonly<Record<graph.RegistryOperation, Pair<string>>>,
  operation: ['Operation', 'Операция'],
  found: ['Found', 'Найдено'],
  detail: ['What differs', 'Что расходится'],
  choose: ['Choose', 'Выбрать'],
  chooseAll: ['Choose all on this page', 'Выбрать всё на странице'],
  resolve: (count: number) => [count === 1 ? 'Resolve 1' : `Resolve ${count}`, `Решить: ${count}`],
  resolveText: (count: number) => [
    `${count === 1 ? 'This difference' : `These ${count} differences`} no longer count. Nothing moves by it.`,
    `${count} ${plural(count, 'расхождение', 'расхождения', 'расхождений')} больше не ${plural(count, 'считается', 'считаются', 'считаются')}. Деньги от этого не двигаются.`,
  ],
  resolved: (count: number) => [
    count === 1 ? '1 is resolved.' : `${count} are resolved.`,
    `Решено: ${count}.`,
  ],
  partly: (done: number, all: number, why: string) => [
    `${done} of ${all} are resolved; then: ${why}`,
    `Решено ${done} из ${all}, дальше: ${why}`,
  ],
  empty: ['Nothing differs', 'Расхождений нет'],
  emptyText: [
    'Differences between a report and our operations are listed here.',
    'Здесь будет то, в чём реестр и наши операции не сошлись.',
  ],
  ofRun: ['One registry', 'Один реестр'],
  atMoment: ['Balance at a moment', 'Баланс на момент'],
  atMomentText: [
    'From what had been booked until then, that moment included.',
    'По всему, что учтено до этого момента включительно.',
  ],
  settle: ['Record a settlement', 'Записать расчёт'],
  settleText: [
    'It books a settlement with the merchant: the balance falls by the amount. The same reference books once.',
    'Будет учтено, что мерчанту перечислили причитающееся: баланс уменьшится на сумму. С одним номером учитывается один раз.',
  ],
  adjust: ['Record an adjustment', 'Записать корректировку'],
  adjustText: [
    'It corrects the balance, below zero if need be. The merchant sees the reason in the ledger. The same reference books once.',
    'Баланс исправится, при необходимости ниже нуля. Причина останется в движениях, мерчант её увидит. С одним номером учитывается один раз.',
  ],
  reference: ['Reference', 'Номер'],
  referenceHint: [
    'Such as the number of the payment order',
    'Например, номер платёжного поручения',
  ],
  amount: ['Amount, RUB', 'Сумма, RUB'],
  amountSigned: [
    'A positive amount adds to the balance, a negative one takes from it',
    'В пользу мерчанта; с минусом — списать с него',
  ],
  recorded: ['It is booked.', 'Учтено.'],
  repeated: [
    'This reference was booked before: nothing is booked again.',
    'С этим номером уже учтено: ещё раз не учитываем.',
  ],
});

export const ledgerWords = sectionWords({
  after: ['Balance after', 'Баланс после'],
  afterOfShop: ['Balance of the shop after', 'Баланс магазина после'],
  reserved: (amount: string) => [
    `${amount} less is available than the balance: it is set aside for refunds and payouts under way, until they succeed or fail.`,
    `Доступно меньше баланса на ${amount}: столько отложено под возвраты и выплаты, которые ещё идут. Пройдут — уйдут с баланса, не пройдут — снова станут доступны.`,
  ],
  pendingRefunds: ['Refunds under way', 'Возвраты в пути'],
  pendingPayouts: ['payouts under way', 'выплаты в пути'],
  movement: ['Movements of', 'Движения по'],
  payment: ['Payment: number or id', 'Платёж: номер или id'],
  payout: ['Payout: id', 'Выплата: id'],
  opening: ['At the beginning of the range', 'На начало периода'],
  closing: ['At its end', 'На конец периода'],
  none: ['No movements with these filters', 'С такими фильтрами движений нет'],
});
