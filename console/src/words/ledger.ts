/** The words of the ledger. */
import { sectionWords } from './words.ts';

const en = {
  after: 'Balance after',
  afterOfShop: 'Balance of the shop after',
  reserved: (amount: string) =>
    `${amount} less is available than the balance: it is set aside for refunds and payouts under way, until they succeed or fail.`,
  pendingRefunds: 'Refunds under way',
  pendingPayouts: 'payouts under way',
  movement: 'Movements of',
  payment: 'Payment: number or id',
  payout: 'Payout: id',
  opening: 'At the beginning of the range',
  closing: 'At its end',
  none: 'No movements with these filters',
};

const ru: typeof en = {
  after: 'Баланс после',
  afterOfShop: 'Баланс магазина после',
  reserved: (amount) =>
    `Доступно меньше баланса на ${amount}: столько отложено под возвраты и выплаты, которые ещё идут. Пройдут — уйдут с баланса, не пройдут — снова станут доступны.`,
  pendingRefunds: 'Возвраты в пути',
  pendingPayouts: 'выплаты в пути',
  movement: 'Движения по',
  payment: 'Платёж: номер или id',
  payout: 'Выплата: id',
  opening: 'На начало периода',
  closing: 'На конец периода',
  none: 'С такими фильтрами движений нет',
};

/** The words. */
export const useLedgerWords = sectionWords(en, ru);
export type LedgerWords = typeof en;
