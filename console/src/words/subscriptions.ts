/** The words of subscriptions and saved methods. */
import type * as graph from '../../../schema/generated/console.ts';
import { plural, sectionWords, type Pair } from './table.ts';

const everyInRussian = (count: number) =>
  count === 1
    ? { day: 'каждый день', week: 'каждую неделю', month: 'раз в месяц', year: 'раз в год' }
    : {
        day: `раз в ${count} ${plural(count, 'день', 'дня', 'дней')}`,
        week: `раз в ${count} ${plural(count, 'неделю', 'недели', 'недель')}`,
        month: `раз в ${count} ${plural(count, 'месяц', 'месяца', 'месяцев')}`,
        year: `раз в ${count} ${plural(count, 'год', 'года', 'лет')}`,
      };

export const subscriptionWords = sectionWords({
  one: ['Subscription', 'Подписка'],
  tabs: {
    subscriptions: ['Subscriptions', 'Подписки'],
    tokens: ['Saved methods', 'Сохранённые способы'],
  },
  statuses: {
    pending: ['Not bound yet', 'Ещё не привязана'],
    active: ['Active', 'Действует'],
    past_due: ['Past due', 'Просрочена'],
    paused: ['Paused', 'На паузе'],
    cancelled: ['Ended', 'Завершена'],
  } satisfies Readonly<Record<graph.SubscriptionStatus, Pair<string>>>,
  tokenStatuses: {
    pending: ['Not bound yet', 'Ещё не привязан'],
    active: ['Active', 'Можно списывать'],
    cancelled: ['Ended', 'Завершён'],
  } satisfies Readonly<Record<graph.TokenStatus, Pair<string>>>,
  every: (count: number, period: graph.SubscriptionPeriod) => [
    count === 1 ? `each ${period}` : `each ${count} ${period}s`,
    everyInRussian(count)[period],
  ],
  customer: ['Customer', 'Покупатель'],
  plan: ['Plan', 'План'],
  price: ['Price', 'Цена'],
  nextCharge: ['Next charge', 'Следующее списание'],
  retry: ['Next retry', 'Повторная попытка'],
  lastCharge: ['Last charge', 'Последнее списание'],
  trial: ['Trial', 'Пробный период'],
  paused: ['Paused', 'На паузе с'],
  ended: ['Ended', 'Завершена'],
  why: ['Why', 'Почему'],
  upcoming: ['Next dates', 'Ближайшие даты'],
  noUpcoming: ['Nothing is scheduled.', 'Списаний не запланировано.'],
  charges: ['Charges', 'Списания'],
  noCharges: ['Nothing has been charged yet.', 'Списаний ещё не было.'],
  charge: (period: number, attempt: number) => [
    attempt > 1 ? `Period ${period}, attempt ${attempt}` : `Period ${period}`,
    attempt > 1 ? `Период ${period}, попытка ${attempt}` : `Период ${period}`,
  ],
  binding: ['Binding the method', 'Привязка способа'],
  chargeStatuses: {
    open: ['at the bank', 'в банке'],
    succeeded: ['charged', 'списано'],
    failed: ['failed', 'не прошло'],
    cancelled: ['cancelled', 'отменено'],
  } satisfies Readonly<Record<graph.SubscriptionChargeStatus, Pair<string>>>,
  empty: ['No subscriptions yet', 'Подписок ещё нет'],
  emptyText: [
    'A shop makes them by the API; the buyer binds a method on the page of payment.',
    'Их создаёт магазин через API, а способ оплаты покупатель привязывает на странице.',
  ],
  tokensEmpty: ['No saved methods yet', 'Сохранённых способов ещё нет'],
  tokensEmptyText: [
    'A method is saved when a buyer binds it: by a subscription or by a token.',
    'Способ сохраняется, когда покупатель его привязал: с подпиской или с токеном.',
  ],
  findCustomer: ["Customer's reference", 'Покупатель у мерчанта'],
  pause: ['Pause', 'Поставить на паузу'],
  pauseText: [
    'Nothing is charged until it is resumed. The buyer is not notified.',
    'Списаний не будет, пока подписку не возобновят. Покупатель об этом не узнает.',
  ],
  pausedNow: ['The subscription is paused.', 'Подписка на паузе.'],
  resume: ['Resume', 'Возобновить'],
  resumeText: [
    'Charges continue from the next date. Dates in the pause are not charged.',
    'Списания продолжатся со следующей даты. За время паузы ничего не спишется.',
  ],
  resumed: ['The subscription continues.', 'Подписка возобновлена.'],
  cancel: ['End the subscription', 'Завершить подписку'],
  cancelText: [
    'Nothing is charged any more, for good. Payments that were made stay.',
    'Списаний больше не будет. Прошлые платежи останутся.',
  ],
  cancelled: ['The subscription has ended.', 'Подписка завершена.'],
  endToken: ['End', 'Завершить'],
  endTokenTitle: ['End the saved method', 'Завершить сохранённый способ'],
  endTokenText: [
    'It can never be charged again, and its subscriptions end with it. Payments that were made stay.',
    'С него больше никогда не спишут, и подписки на нём завершатся. Прошлые платежи останутся.',
  ],
  tokenEnded: ['The saved method has ended.', 'Сохранённый способ завершён.'],
  reasonHint: ['For the audit log', 'Для журнала'],
});
