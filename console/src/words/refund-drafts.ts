/** The words of proposed refunds. */
import type { RefundDraftStatus } from '../../../schema/generated/console.ts';
import { sectionWords } from './words.ts';

const en = {
  tabs: { refunds: 'Refunds', drafts: 'Proposed' },
  statuses: {
    pending: 'Awaiting approval',
    approved: 'Approved',
    rejected: 'Declined',
    expired: 'Expired',
  } satisfies Readonly<Record<RefundDraftStatus, string>>,
  toApprove: 'Refunds to approve',
  proposed: 'Proposed',
  by: (who: string) => `by ${who}`,
  mine: 'by you',
  until: 'until',
  acts: 'Actions',
  empty: 'No proposed refunds',
  emptyText: 'Support proposes a refund on the page of a payment. A proposal waits 72 hours.',
  title: 'Proposed refunds',
  propose: 'Propose a refund',
  proposeText: (amount: string, to: string) =>
    `Nothing moves yet: another person must approve within 72 hours that ${amount} go back to ${to}.`,
  proposeReason: 'Required: for the approver, the audit log and the buyer',
  proposedNow: 'The refund waits for another person.',
  approve: 'Approve',
  approveText: (amount: string, to: string) =>
    `${amount} goes back to ${to}. The balance falls by ${amount}; the fee is not returned. It cannot be undone.`,
  approvedNow: (status: string) => `Approved. The refund: ${status}.`,
  reject: 'Decline',
  rejectText: 'This proposal will never become a refund. Propose it again if it is needed.',
  rejectReason: 'Why',
  rejectReasonHint: 'Required: the audit log and the proposal show it',
  rejectedNow: 'The refund is declined.',
  own: 'You proposed it: another person approves it',
  notOwn: 'Support withdraws its own proposals; finance declines others',
  refusals: {
    already_refunded: 'The payment is already refunded in full. The proposal can be declined.',
    amount_exceeds_remainder:
      'Less than this is left of the payment. The proposal can be declined.',
    payment_not_succeeded: 'The payment can no longer be refunded. The proposal can be declined.',
    scope_required: 'So much of a payment only an administrator refunds. The proposal waits.',
    route_not_configured: 'The bank of this payment is not configured. The proposal waits.',
  },
  now: (status: string) => `It was decided meanwhile: ${status}.`,
};

const ru: typeof en = {
  tabs: { refunds: 'Возвраты', drafts: 'Предложенные' },
  statuses: {
    pending: 'Ждёт одобрения',
    approved: 'Одобрен',
    rejected: 'Отклонён',
    expired: 'Истёк',
  },
  toApprove: 'Возвраты на одобрение',
  proposed: 'Предложен',
  by: (who) => `кем: ${who}`,
  mine: 'вами',
  until: 'до',
  acts: 'Действия',
  empty: 'Предложенных возвратов нет',
  emptyText: 'Поддержка предлагает возврат на странице платежа. Предложение ждёт 72 часа.',
  title: 'Предложенные возвраты',
  propose: 'Предложить возврат',
  proposeText: (amount, to) =>
    `Деньги пока не движутся: возврат ${amount} получателю ${to} должен одобрить другой человек за 72 часа.`,
  proposeReason: 'Обязательно: для того, кто одобряет, для журнала и покупателя',
  proposedNow: 'Возврат ждёт другого человека.',
  approve: 'Одобрить',
  approveText: (amount, to) =>
    `${amount} вернутся получателю ${to}. Баланс уменьшится на ${amount}, комиссия не возвращается. Отменить нельзя.`,
  approvedNow: (status) => `Одобрено. Возврат: ${status}.`,
  reject: 'Отклонить',
  rejectText: 'Возврата по этому предложению не будет. Если он нужен, предложите его заново.',
  rejectReason: 'Почему',
  rejectReasonHint: 'Обязательно: останется в журнале и в предложении',
  rejectedNow: 'Возврат отклонён.',
  own: 'Вы сами его предложили: одобряет другой человек',
  notOwn: 'Поддержка отзывает свои предложения, чужие отклоняют финансы',
  refusals: {
    already_refunded: 'Платёж уже возвращён целиком. Предложение можно отклонить.',
    amount_exceeds_remainder: 'От платежа осталось меньше. Предложение можно отклонить.',
    payment_not_succeeded: 'Этот платёж больше нельзя вернуть. Предложение можно отклонить.',
    scope_required: 'Столько от одного платежа возвращает только администратор. Предложение ждёт.',
    route_not_configured: 'Банк этого платежа не настроен. Предложение ждёт.',
  },
  now: (status) => `Решение уже принято: ${status}.`,
};

export const useRefundDraftWords = sectionWords(en, ru);
export type RefundDraftWords = typeof en;
