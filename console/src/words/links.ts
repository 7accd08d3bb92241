/** The words of payment links. */
import type { PaymentLinkStatus } from '../../../schema/generated/console.ts';
import { sectionWords } from './words.ts';

const en = {
  one: 'Payment link',
  anyMethod: 'Any',
  statuses: {
    active: 'Open',
    paid: 'Used up',
    expired: 'Expired',
    deactivated: 'Ended',
  } satisfies Readonly<Record<PaymentLinkStatus, string>>,
  amountAny: 'Any amount',
  amountFrom: (least: string) => `from ${least}`,
  amountTo: (most: string) => `up to ${most}`,
  amountBetween: (least: string, most: string) => `${least} to ${most}`,
  uses: 'Uses left',
  usesOf: (left: number, all: number) => `${left} of ${all}`,
  endless: 'without a limit',
  noPayments: 'None yet',
  allPayments: 'All of them, with filters',
  paid: 'Paid',
  ends: 'Open until',
  ended: 'Ended',
  returnUrl: 'Returns to',
  capture: 'Capture',
  captures: { automatic: 'automatic', manual: 'manual: held first' },
  empty: 'No payment links yet',
  emptyText: 'Make one above, or by POST /v1/public/links. It can be paid once or many times.',
  open: 'Open its page',
  end: 'End the link',
  endText:
    'No new payment can begin through it, for good. Payments that were begun can still be paid.',
  endDone: 'The link has ended.',
};

const ru: typeof en = {
  one: 'Платёжная ссылка',
  anyMethod: 'Любой',
  statuses: {
    active: 'Открыта',
    paid: 'Исчерпана',
    expired: 'Истекла',
    deactivated: 'Закрыта',
  },
  amountAny: 'Любая сумма',
  amountFrom: (least) => `от ${least}`,
  amountTo: (most) => `до ${most}`,
  amountBetween: (least, most) => `${least} – ${most}`,
  uses: 'Осталось оплат',
  usesOf: (left, all) => `${left} из ${all}`,
  endless: 'без ограничения',
  noPayments: 'Пока нет',
  allPayments: 'Все, с фильтрами',
  paid: 'Оплачено по ней',
  ends: 'Открыта до',
  ended: 'Завершена',
  returnUrl: 'Возврат на',
  capture: 'Списание',
  captures: { automatic: 'сразу', manual: 'сначала удержание' },
  empty: 'Платёжных ссылок ещё нет',
  emptyText:
    'Создайте её выше или через POST /v1/public/links. По ссылке платят один раз или много раз.',
  open: 'Открыть страницу',
  end: 'Закрыть ссылку',
  endText: 'Начать оплату по ней больше будет нельзя. Уже начатое ещё можно оплатить.',
  endDone: 'Ссылка закрыта.',
};

export const useLinkWords = sectionWords(en, ru);
export type LinkWords = typeof en;
