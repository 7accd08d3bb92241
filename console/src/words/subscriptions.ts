/** The words of subscriptions and saved methods. */
import type {
  RecurringMethod,
  SubscriptionChargeStatus,
  SubscriptionPeriod,
  SubscriptionStatus,
  TokenStatus,
} from '../../../schema/generated/console.ts';
import { plural } from './ru.ts';
import { sectionWords } from './words.ts';

const periodsEn = { day: 'day', week: 'week', month: 'month', year: 'year' };

const en = {
  one: 'Subscription',
  tabs: { subscriptions: 'Subscriptions', tokens: 'Saved methods' },
  statuses: {
    pending: 'Not bound yet',
    active: 'Active',
    past_due: 'Past due',
    paused: 'Paused',
    cancelled: 'Ended',
  } satisfies Readonly<Record<SubscriptionStatus, string>>,
  tokenStatuses: {
    pending: 'Not bound yet',
    active: 'Active',
    cancelled: 'Ended',
  } satisfies Readonly<Record<TokenStatus, string>>,
  methods: { cards: 'Card', sbp: 'SBP', tpay: 'T-Pay' } satisfies Readonly<
    Record<RecurringMethod, string>
  >,
  every: (count: number, period: SubscriptionPeriod) =>
    count === 1 ? `each ${periodsEn[period]}` : `each ${count} ${periodsEn[period]}s`,
  customer: 'Customer',
  plan: 'Plan',
  price: 'Price',
  nextCharge: 'Next charge',
  retry: 'Next retry',
  lastCharge: 'Last charge',
  trial: 'Trial',
  trialDays: (days: number) => (days === 1 ? '1 day' : `${days} days`),
  paused: 'Paused',
  ended: 'Ended',
  why: 'Why',
  upcoming: 'Next dates',
  noUpcoming: 'Nothing is scheduled.',
  charges: 'Charges',
  noCharges: 'Nothing has been charged yet.',
  charge: (period: number, attempt: number) =>
    attempt > 1 ? `Period ${period}, attempt ${attempt}` : `Period ${period}`,
  binding: 'Binding the method',
  chargeStatuses: {
    open: 'at the bank',
    succeeded: 'charged',
    failed: 'failed',
    cancelled: 'cancelled',
  } satisfies Readonly<Record<SubscriptionChargeStatus, string>>,
  empty: 'No subscriptions yet',
  emptyText: 'A shop makes them by the API; the buyer binds a method on the page of payment.',
  tokensEmpty: 'No saved methods yet',
  tokensEmptyText: 'A method is saved when a buyer binds it: by a subscription or by a token.',
  findCustomer: "Customer's reference",
  pause: 'Pause',
  pauseText: 'Nothing is charged until it is resumed. The buyer is not notified.',
  pausedNow: 'The subscription is paused.',
  resume: 'Resume',
  resumeText: 'Charges continue from the next date. Dates in the pause are not charged.',
  resumed: 'The subscription continues.',
  cancel: 'End the subscription',
  cancelText: 'Nothing is charged any more, for good. Payments that were made stay.',
  cancelled: 'The subscription has ended.',
  endToken: 'End',
  endTokenTitle: 'End the saved method',
  endTokenText:
    'It can never be charged again, and its subscriptions end with it. Payments that were made stay.',
  tokenEnded: 'The saved method has ended.',
  reason: 'Reason',
  reasonHint: 'For the audit log',
};

const ru: typeof en = {
  one: 'Подписка',
  tabs: { subscriptions: 'Подписки', tokens: 'Сохранённые способы' },
  statuses: {
    pending: 'Ещё не привязана',
    active: 'Действует',
    past_due: 'Просрочена',
    paused: 'На паузе',
    cancelled: 'Завершена',
  },
  tokenStatuses: {
    pending: 'Ещё не привязан',
    active: 'Можно списывать',
    cancelled: 'Завершён',
  },
  methods: { cards: 'Карта', sbp: 'СБП', tpay: 'T-Pay' },
  every: (count, period) => {
    const one = {
      day: 'каждый день',
      week: 'каждую неделю',
      month: 'раз в месяц',
      year: 'раз в год',
    };
    const many = {
      day: plural(count, 'день', 'дня', 'дней'),
      week: plural(count, 'неделю', 'недели', 'недель'),
      month: plural(count, 'месяц', 'месяца', 'месяцев'),
      year: plural(count, 'год', 'года', 'лет'),
    };
    return count === 1 ? one[period] : `раз в ${count} ${many[period]}`;
  },
  customer: 'Покупатель',
  plan: 'План',
  price: 'Цена',
  nextCharge: 'Следующее списание',
  retry: 'Повторная попытка',
  lastCharge: 'Последнее списание',
  trial: 'Пробный период',
  trialDays: (days) => `${days} ${plural(days, 'день', 'дня', 'дней')}`,
  paused: 'На паузе с',
  ended: 'Завершена',
  why: 'Почему',
  upcoming: 'Ближайшие даты',
  noUpcoming: 'Списаний не запланировано.',
  charges: 'Списания',
  noCharges: 'Списаний ещё не было.',
  charge: (period, attempt) =>
    attempt > 1 ? `Период ${period}, попытка ${attempt}` : `Период ${period}`,
  binding: 'Привязка способа',
  chargeStatuses: {
    open: 'в банке',
    succeeded: 'списано',
    failed: 'не прошло',
    cancelled: 'отменено',
  },
  empty: 'Подписок ещё нет',
  emptyText: 'Их создаёт магазин через API, а способ оплаты покупатель привязывает на странице.',
  tokensEmpty: 'Сохранённых способов ещё нет',
  tokensEmptyText: 'Способ сохраняется, когда покупатель его привязал: с подпиской или с токеном.',
  findCustomer: 'Покупатель у мерчанта',
  pause: 'Поставить на паузу',
  pauseText: 'Списаний не будет, пока подписку не возобновят. Покупатель об этом не узнает.',
  pausedNow: 'Подписка на паузе.',
  resume: 'Возобновить',
  resumeText: 'Списания продолжатся со следующей даты. За время паузы ничего не спишется.',
  resumed: 'Подписка возобновлена.',
  cancel: 'Завершить подписку',
  cancelText: 'Списаний больше не будет. Прошлые платежи останутся.',
  cancelled: 'Подписка завершена.',
  endToken: 'Завершить',
  endTokenTitle: 'Завершить сохранённый способ',
  endTokenText:
    'С него больше никогда не спишут, и подписки на нём завершатся. Прошлые платежи останутся.',
  tokenEnded: 'Сохранённый способ завершён.',
  reason: 'Причина',
  reasonHint: 'Для журнала',
};

export const useSubscriptionWords = sectionWords(en, ru);
export type SubscriptionWords = typeof en;
