/** The words of the closing of a span. */
import { sectionWords } from './words.ts';

const en = {
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
  saveLabel: 'Save the closing as CSV',
  firstDay: (zone: string) => `First day (${zone})`,
  lastDay: (zone: string) => `Last day (${zone})`,
  chooseMerchant: 'Choose a merchant to close its month.',
  chooseShop: 'Shop to show; the file has all of them',
};

const ru: typeof en = {
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
  saveLabel: 'Сохранить закрытие в CSV',
  firstDay: (zone) => `Первый день (${zone})`,
  lastDay: (zone) => `Последний день (${zone})`,
  chooseMerchant: 'Выберите мерчанта, чтобы закрыть его месяц.',
  chooseShop: 'Магазин на экране; в файле будут все',
};

/** The words. */
export const useClosingWords = sectionWords(en, ru);
export type ClosingWords = typeof en;
