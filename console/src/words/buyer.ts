/**
 * The message about a payment for its buyer, in the buyer's language. The person who sends it may
 * use the console in another one.
 */
import type { Settings } from '../settings.ts';
import type { PaymentDetails } from '../payments/shown.tsx';
import { sectionWords } from './table.ts';

/** The words around the message. */
export const buyerWords = sectionWords({
  title: ['For the buyer', 'Для покупателя'],
  language: ["Buyer's language", 'Язык покупателя'],
});

/** What the sentences are about, written out. */
interface MessageFacts {
  readonly amount: string;
  readonly order: string;
  readonly shop: string;
  /** The day and time of the end; of the beginning when it has none. */
  readonly at: string;
  /** The end of the link, or of the hold. */
  readonly until: string;
  readonly refunded: string;
}

const callBank = 'Call the bank that issued the card, or pay another way.';
const checkCard = 'Start the payment again and check the card details.';
const otherCard = 'Pay by another card or another way.';

const inEnglish = {
  locale: 'en-GB',
  name: 'English',
  statuses: {
    pending: ({ amount, order, shop, until }) =>
      `Order ${order} at ${shop}, ${amount}, is not paid yet: no money was taken. You can pay by the shop's link until ${until}.`,
    processing: ({ amount, order, shop }) =>
      `The bank is checking the payment of ${amount} for order ${order} at ${shop}. Do not pay again: the answer usually comes within minutes. If the payment fails, no money is taken.`,
    authorized: ({ amount, order, shop, until }) =>
      `The bank holds ${amount} for order ${order} at ${shop}. The shop takes the money when it confirms the order, by ${until}; otherwise you can use it again.`,
    succeeded: ({ amount, order, shop, at }) =>
      `Order ${order} at ${shop} is paid: ${amount}, ${at}. You need not pay again. Ask the shop about the order and its delivery.`,
    failed: ({ amount, order, shop, at }) =>
      `The payment of ${amount} for order ${order} at ${shop} did not go through (${at}).`,
    expired: ({ amount, order, shop, at }) =>
      `The time to pay ${amount} for order ${order} at ${shop} is over (${at}). If you still want the order, start again at the shop.`,
    cancelled: ({ amount, order, shop, at }) =>
      `${shop} cancelled the payment of ${amount} for order ${order} (${at}). If you still want it, order at the shop again.`,
    refunded: ({ refunded, order, shop }) =>
      `${shop} gave the money for order ${order} back: ${refunded}.`,
  } satisfies Readonly<Record<PaymentDetails['status'], (facts: MessageFacts) => string>>,
  failures: {
    insufficient_funds: 'There was not enough money on the account. Top it up or pay another way.',
    limit_exceeded: "A limit was reached. Change it in your bank's app or pay another way.",
    expired_card: `The card has expired. ${otherCard}`,
    invalid_card_number: `The card number was mistyped. ${checkCard}`,
    invalid_expiry: `The expiry date was mistyped. ${checkCard}`,
    incorrect_cvc: `The security code was mistyped. ${checkCard}`,
    transaction_not_permitted: `The card cannot pay this way. ${otherCard}`,
    country_not_supported: `Cards of this country are not accepted. ${otherCard}`,
    authentication_failed:
      'The payment was not confirmed. Start again and confirm it at your bank.',
    session_expired: 'The payment was not finished in time. Start again at the shop.',
    issuer_unavailable: 'The bank did not answer. Try again in a few minutes or pay another way.',
    processing_error: 'The bank could not process the payment. Try again in a few minutes.',
    method_unavailable: 'This way of paying does not work now. Pay another way.',
  } as Readonly<Record<string, string>>,
  otherFailure: `The bank declined it. ${callBank}`,
  notCharged:
    'The shop has received no money. If your bank shows a charge, it is a temporary hold: the bank lifts it by itself, usually within days.',
  partlyRefunded: ({ refunded, amount }: MessageFacts) => `${refunded} of ${amount} was refunded.`,
  refundUnderWay: 'The refund was sent to the bank and is not complete yet.',
  late: 'The money came after the payment was closed: it goes back without your doing anything.',
  arrival:
    "The money goes back to where it came from: by SBP usually the same day, to a card within 10 working days, as the card's bank decides. After that, show the bank the reference (RRN).",
  number: (id: string) => `Payment number: ${id}`,
  rrn: (rrn: string) => `Reference for the bank (RRN): ${rrn}`,
  bank: (bank: string) => `Bank: ${bank}`,
  receipt: (document: string, storage: string, sign: string) =>
    `Receipt: document ${document}, storage ${storage}, sign ${sign}; it can be checked in the app of the tax service.`,
};

export type BuyerSentences = typeof inEnglish;

const callBankRu = 'Позвоните в банк, который выпустил карту, или оплатите другим способом.';
const checkCardRu = 'Начните оплату заново и проверьте данные карты.';
const otherCardRu = 'Оплатите другой картой или другим способом.';

const inRussian: BuyerSentences = {
  locale: 'ru-RU',
  name: 'Русский',
  statuses: {
    pending: ({ amount, order, shop, until }) =>
      `Заказ ${order} в магазине «${shop}» на ${amount} ещё не оплачен: деньги не списаны. Оплатить можно по ссылке магазина до ${until}.`,
    processing: ({ amount, order, shop }) =>
      `Оплату заказа ${order} в магазине «${shop}» на ${amount} сейчас проверяет банк. Не платите второй раз: обычно ответ приходит за несколько минут. Если оплата не пройдёт, деньги не спишутся.`,
    authorized: ({ amount, order, shop, until }) =>
      `Банк удержал ${amount} за заказ ${order} в магазине «${shop}». Магазин спишет эти деньги, когда подтвердит заказ, до ${until}; иначе они снова станут доступны.`,
    succeeded: ({ amount, order, shop, at }) =>
      `Заказ ${order} в магазине «${shop}» оплачен: ${amount}, ${at}. Платить ещё раз не нужно. С вопросами о заказе и доставке обратитесь в магазин.`,
    failed: ({ amount, order, shop, at }) =>
      `Оплата заказа ${order} в магазине «${shop}» на ${amount} не прошла (${at}).`,
    expired: ({ amount, order, shop, at }) =>
      `Время на оплату заказа ${order} в магазине «${shop}» на ${amount} вышло (${at}). Если заказ ещё нужен, начните оплату в магазине заново.`,
    cancelled: ({ amount, order, shop, at }) =>
      `Магазин «${shop}» отменил платёж за заказ ${order} на ${amount} (${at}). Если заказ ещё нужен, оформите его в магазине заново.`,
    refunded: ({ refunded, order, shop }) =>
      `Магазин «${shop}» вернул деньги за заказ ${order}: ${refunded}.`,
  },
  failures: {
    insufficient_funds: 'На счёте не хватило денег. Пополните его или оплатите другим способом.',
    limit_exceeded:
      'Превышен лимит операций. Измените его в приложении банка или оплатите другим способом.',
    expired_card: `Срок действия карты истёк. ${otherCardRu}`,
    invalid_card_number: `Номер карты введён с ошибкой. ${checkCardRu}`,
    invalid_expiry: `Срок действия карты введён с ошибкой. ${checkCardRu}`,
    incorrect_cvc: `Код с обратной стороны карты введён с ошибкой. ${checkCardRu}`,
    transaction_not_permitted: `Этой картой так платить нельзя. ${otherCardRu}`,
    country_not_supported: `Карты этой страны не принимаются. ${otherCardRu}`,
    authentication_failed:
      'Оплата не была подтверждена. Начните её заново и подтвердите в своём банке.',
    session_expired: 'Оплата не была закончена вовремя. Начните её в магазине заново.',
    issuer_unavailable:
      'Банк не ответил. Попробуйте через несколько минут или оплатите другим способом.',
    processing_error: 'Банк не смог провести оплату. Попробуйте через несколько минут.',
    method_unavailable: 'Этот способ сейчас не работает. Оплатите другим способом.',
  },
  otherFailure: `Банк отклонил её. ${callBankRu}`,
  notCharged:
    'Деньги магазину не поступили. Если банк показывает списание, это временная блокировка: он снимет её сам, обычно за несколько дней.',
  partlyRefunded: ({ refunded, amount }) => `Из ${amount} возвращено ${refunded}.`,
  refundUnderWay: 'Возврат отправлен в банк и ещё не завершён.',
  late: 'Деньги пришли, когда платёж уже был закрыт: они возвращаются без вашего участия.',
  arrival:
    'Деньги приходят туда, откуда была оплата: по СБП обычно в тот же день, на карту — за срок до 10 рабочих дней, его определяет банк карты. Если срок вышел, покажите банку номер операции (RRN).',
  number: (id) => `Номер платежа: ${id}`,
  rrn: (rrn) => `Номер операции для банка (RRN): ${rrn}`,
  bank: (bank) => `Банк: ${bank}`,
  receipt: (document, storage, sign) =>
    `Чек: ФД ${document}, ФН ${storage}, ФПД ${sign}; проверить его можно в приложении ФНС «Проверка чеков».`,
};

export const buyerSentences: Readonly<Record<Settings['language'], BuyerSentences>> = {
  ru: inRussian,
  en: inEnglish,
};
