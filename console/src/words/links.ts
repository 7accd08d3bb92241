/** The words of payment links. */
import type { PaymentLinkStatus } from '../../../schema/generated/console.ts';
import { sectionWords, type Pair } from './table.ts';

export const useLinkWords = sectionWords({
  one: ['Payment link', 'Платёжная ссылка'],
  anyMethod: ['Any', 'Любой'],
  statuses: {
    active: ['Open', 'Открыта'],
    paid: ['Used up', 'Исчерпана'],
    expired: ['Expired', 'Истекла'],
    deactivated: ['Ended', 'Закрыта'],
  } satisfies Readonly<Record<PaymentLinkStatus, Pair<string>>>,
  amountAny: ['Any amount', 'Любая сумма'],
  amountFrom: [(least: string) => `from ${least}`, (least: string) => `от ${least}`],
  amountTo: [(most: string) => `up to ${most}`, (most: string) => `до ${most}`],
  amountBetween: [
    (least: string, most: string) => `${least} to ${most}`,
    (least: string, most: string) => `${least} – ${most}`,
  ],
  uses: ['Uses left', 'Осталось оплат'],
  usesOf: [
    (left: number, all: number) => `${left} of ${all}`,
    (left: number, all: number) => `${left} из ${all}`,
  ],
  endless: ['without a limit', 'без ограничения'],
  noPayments: ['None yet', 'Пока нет'],
  allPayments: ['All of them, with filters', 'Все, с фильтрами'],
  paid: ['Paid', 'Оплачено по ней'],
  ends: ['Open until', 'Открыта до'],
  ended: ['Ended', 'Завершена'],
  returnUrl: ['Returns to', 'Возврат на'],
  capture: ['Capture', 'Списание'],
  captures: {
    automatic: ['automatic', 'сразу'],
    manual: ['manual: held first', 'сначала удержание'],
  },
  empty: ['No payment links yet', 'Платёжных ссылок ещё нет'],
  emptyText: [
    'Make one above, or by POST /v1/public/links. It can be paid once or many times.',
    'Создайте её выше или через POST /v1/public/links. По ссылке платят один раз или много раз.',
  ],
  open: ['Open its page', 'Открыть страницу'],
  end: ['End the link', 'Закрыть ссылку'],
  endText: [
    'No new payment can begin through it, for good. Payments that were begun can still be paid.',
    'Начать оплату по ней больше будет нельзя. Уже начатое ещё можно оплатить.',
  ],
  endDone: ['The link has ended.', 'Ссылка закрыта.'],
});
export type LinkWords = ReturnType<typeof useLinkWords>;
