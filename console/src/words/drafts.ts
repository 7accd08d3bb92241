/** The words of payouts and refunds that people propose and others decide. */
import type * as graph from '../../../schema/generated/console.ts';
import { sectionWords, type Pair, plural, type WordTable } from './table.ts';
import type { Column } from '../payouts/draft-fields.ts';

/** Of either kind of draft. */
const decision = {
  by: (who: string) => [`by ${who}`, `кем: ${who}`],
  mine: ['by you', 'вами'],
  until: ['until', 'до'],
  approve: ['Approve', 'Одобрить'],
  rejectReason: ['Why', 'Почему'],
  now: (status: string) => [
    `It was decided meanwhile: ${status}.`,
    `Решение уже принято: ${status}.`,
  ],
} satisfies WordTable;

export const draftWords = sectionWords({
  ...decision,
  one: ['Payout', 'Выплата'],
  completed: ['Completed', 'Завершена'],
  reference: ['Bank reference', 'Номер в банке'],
  history: ['History', 'История'],
  tabs: {
    payouts: ['Payouts', 'Выплаты'],
    drafts: ['Drafts', 'Черновики'],
    batch: ['From a file', 'Из файла'],
  },
  statuses: {
    pending: ['Awaiting approval', 'Ждёт одобрения'],
    approved: ['Approved', 'Одобрена'],
    rejected: ['Rejected', 'Отклонена'],
    expired: ['Expired', 'Истекла'],
  } satisfies Readonly<Record<graph.PayoutDraftStatus, Pair<string>>>,
  toApprove: ['Payouts to approve', 'Выплаты на одобрение'],
  reveal: ['Show in full', 'Показать полностью'],
  revealHint: ['The audit log records it', 'Просмотр попадёт в журнал'],
  proposed: ['Proposed', 'Предложена'],
  empty: ['No drafts yet', 'Черновиков ещё нет'],
  emptyText: [
    'One person proposes a payout with “New payout”, another one approves it. Drafts wait 72 hours.',
    'Один человек предлагает выплату кнопкой «Новая выплата», другой её одобряет. Черновик ждёт 72 часа.',
  ],
  chooseMerchant: [
    'Choose a merchant at the top left to propose a payout.',
    'Чтобы предложить выплату, выберите мерчанта слева вверху.',
  ],
  make: ['New payout', 'Новая выплата'],
  propose: ['Propose the payout', 'Предложить выплату'],
  proposeText: (amount: string) => [
    `Nothing moves yet: another person must approve ${amount} within 72 hours.`,
    `Деньги пока не движутся: ${amount} должен одобрить другой человек за 72 часа.`,
  ],
  proposeFirst: [
    'Nothing moves yet: another person must approve it within 72 hours.',
    'Деньги пока не движутся: выплату должен одобрить другой человек за 72 часа.',
  ],
  proposedNow: ['The draft waits for another person.', 'Черновик ждёт другого человека.'],
  phoneWrong: [
    'A Russian number in any form: 8 916 123-45-67',
    'Российский номер в любом виде: 8 916 123-45-67',
  ],
  bankWrong: [
    'Type a part of the name: “Sber”, “T-Bank”',
    'Введите часть названия: «Сбер», «Т-Банк»',
  ],
  available: ['Available now:', 'Сейчас доступно:'],
  allAvailable: [
    'Nothing is set aside: all of the balance is available.',
    'Ничего не отложено: доступен весь баланс.',
  ],
  withheld: ['Will be withheld', 'Будет списано'],
  remaining: ['Will remain available', 'Останется доступно'],
  missing: (amount: string) => [
    `${amount} is missing: approve once the balance covers it.`,
    `Не хватает ${amount}: одобрить можно, когда баланса хватит.`,
  ],
  again: ['Paid before', 'Уже получали выплаты'],
  againHint: [
    'Optional: a recipient of an earlier payout; the phone stays hidden',
    'Необязательно: получатель прошлой выплаты, его телефон остаётся скрытым',
  ],
  noReason: ['not said', 'не указано'],
  fullName: ['Name of the recipient', 'Имя получателя'],
  fullNameHint: ['Optional, up to 255 characters', 'Необязательно, до 255 символов'],
  card: ['Card number', 'Номер карты'],
  cardWrong: ['16 to 18 digits of a valid card', '16–18 цифр действительной карты'],
  account: ['Account', 'Счёт'],
  accountWrong: ['20 digits', '20 цифр'],
  bik: ['BIK', 'БИК'],
  bikWrong: ['9 digits', '9 цифр'],
  inn: ['INN', 'ИНН'],
  innWrong: ['10 or 12 digits, or nothing', '10 или 12 цифр либо пусто'],
  amountWrong: ['An amount from 0.01', 'Сумма от 0,01'],
  reason: ['What it is for', 'Назначение'],
  reasonHint: ['For the approver and the audit log', 'Для того, кто одобряет, и для журнала'],
  approveText: (amount: string, to: string) => [
    `${amount} goes to ${to}. It cannot be undone.`,
    `Получателю ${to} уйдут ${amount}. Отменить нельзя.`,
  ],
  cardAgain: (mask: string) => [
    `The number of the card that ends in ${mask}`,
    `Номер карты, которая кончается на ${mask}`,
  ],
  cardAgainHint: [
    'It is not stored: the approver types it again',
    'Он нигде не хранится: одобряющий вводит его заново',
  ],
  approvedNow: (status: string) => [
    `Approved. The payout: ${status}.`,
    `Одобрено. Выплата: ${status}.`,
  ],
  reject: ['Reject', 'Отклонить'],
  rejectText: [
    'This draft will never become a payout. Propose it again if you need it.',
    'Выплаты по этому черновику не будет. Если она нужна, предложите её заново.',
  ],
  rejectReasonHint: [
    'Required: the audit log and the draft show it',
    'Обязательно: останется в журнале и в черновике',
  ],
  rejectedNow: ['The draft is rejected.', 'Черновик отклонён.'],
  own: [
    'You proposed it: another person approves it',
    'Вы сами её предложили: одобряет другой человек',
  ],
  refusals: {
    scope_required: [
      'You proposed this payout: another person must approve it.',
      'Вы сами предложили эту выплату: одобрить её должен другой человек.',
    ],
    insufficient_balance: [
      'The balance does not cover the payout and its fee. The draft waits: top up and approve it again, or reject it.',
      'Баланса не хватает на выплату с комиссией. Черновик ждёт: пополните и одобрите снова или отклоните.',
    ],
    aml_blocked: [
      'The recipient is on a block list. The draft waits: it can be rejected.',
      'Получатель в списке блокировок. Черновик ждёт: его можно отклонить.',
    ],
    route_not_configured: [
      'No bank is configured for this kind of payout. The draft waits.',
      'Для таких выплат не настроен банк. Черновик ждёт.',
    ],
    method_unsupported: [
      'The bank of this shop makes no payouts of this kind. The draft waits.',
      'Банк этого магазина так не выплачивает. Черновик ждёт.',
    ],
    live_not_enabled: [
      'Live mode is off for this merchant.',
      'Боевой режим для этого мерчанта выключен.',
    ],
    card: ['This is not the number of the card of this draft.', 'Это не номер карты из черновика.'],
  },
});
export type DraftWords = typeof draftWords;

/* The words of proposed refunds. */

export const refundDraftWords = sectionWords({
  ...decision,
  tabs: {
    refunds: ['Refunds', 'Возвраты'],
    drafts: ['Proposed', 'Предложенные'],
  },
  statuses: {
    pending: ['Awaiting approval', 'Ждёт одобрения'],
    approved: ['Approved', 'Одобрен'],
    rejected: ['Declined', 'Отклонён'],
    expired: ['Expired', 'Истёк'],
  } satisfies Readonly<Record<graph.RefundDraftStatus, Pair<string>>>,
  toApprove: ['Refunds to approve', 'Возвраты на одобрение'],
  proposed: ['Proposed', 'Предложен'],
  empty: ['No proposed refunds', 'Предложенных возвратов нет'],
  emptyText: [
    'Support proposes a refund on the page of a payment. A proposal waits 72 hours.',
    'Поддержка предлагает возврат на странице платежа. Предложение ждёт 72 часа.',
  ],
  title: ['Proposed refunds', 'Предложенные возвраты'],
  propose: ['Propose a refund', 'Предложить возврат'],
  proposeText: (amount: string, to: string) => [
    `Nothing moves yet: another person must approve within 72 hours that ${amount} go back to ${to}.`,
    `Деньги пока не движутся: возврат ${amount} получателю ${to} должен одобрить другой человек за 72 часа.`,
  ],
  proposeReason: [
    'Required: for the approver, the audit log and the buyer',
    'Обязательно: для того, кто одобряет, для журнала и покупателя',
  ],
  proposedNow: ['The refund waits for another person.', 'Возврат ждёт другого человека.'],
  approveText: (amount: string, to: string) => [
    `${amount} goes back to ${to}. The balance falls by ${amount}; the fee is not returned. It cannot be undone.`,
    `${amount} вернутся получателю ${to}. Баланс уменьшится на ${amount}, комиссия не возвращается. Отменить нельзя.`,
  ],
  approvedNow: (status: string) => [
    `Approved. The refund: ${status}.`,
    `Одобрено. Возврат: ${status}.`,
  ],
  reject: ['Decline', 'Отклонить'],
  rejectText: [
    'This proposal will never become a refund. Propose it again if it is needed.',
    'Возврата по этому предложению не будет. Если он нужен, предложите его заново.',
  ],
  rejectReasonHint: [
    'Required: the audit log and the proposal show it',
    'Обязательно: останется в журнале и в предложении',
  ],
  rejectedNow: ['The refund is declined.', 'Возврат отклонён.'],
  own: [
    'You proposed it: another person approves it',
    'Вы сами его предложили: одобряет другой человек',
  ],
  notOwn: [
    'Support withdraws its own proposals; finance declines others',
    'Поддержка отзывает свои предложения, чужие отклоняют финансы',
  ],
  refusals: {
    already_refunded: [
      'The payment is already refunded in full. The proposal can be declined.',
      'Платёж уже возвращён целиком. Предложение можно отклонить.',
    ],
    amount_exceeds_remainder: [
      'Less than this is left of the payment. The proposal can be declined.',
      'От платежа осталось меньше. Предложение можно отклонить.',
    ],
    payment_not_succeeded: [
      'The payment can no longer be refunded. The proposal can be declined.',
      'Этот платёж больше нельзя вернуть. Предложение можно отклонить.',
    ],
    scope_required: [
      'Only an administrator may refund this much of a payment. The proposal waits.',
      'Столько от одного платежа возвращает только администратор. Предложение ждёт.',
    ],
    route_not_configured: [
      'The bank of this payment is not configured. The proposal waits.',
      'Банк этого платежа не настроен. Предложение ждёт.',
    ],
  },
});
export type RefundDraftWords = typeof refundDraftWords;

/* The words of deciding several payout drafts at once. */

const payouts = (count: number): string => (count === 1 ? '1 payout' : `${count} payouts`);

const payoutsRu = (count: number): string =>
  `${count} ${plural(count, 'выплату', 'выплаты', 'выплат')}`;

export const manyDraftsWords = sectionWords({
  label: ['Chosen drafts', 'Выбранные черновики'],
  choose: (to: string) => [`Choose: ${to}`, `Выбрать: ${to}`],
  chooseAll: ['Choose all that wait', 'Выбрать все ожидающие'],
  chosen: (count: number, sum: string) => [
    `Chosen: ${count} for ${sum}`,
    `Выбрано: ${count} на ${sum}`,
  ],
  approveChosen: ['Approve the chosen', 'Одобрить выбранные'],
  rejectChosen: ['Reject the chosen', 'Отклонить выбранные'],
  oneFile: ['From one file', 'Из одного файла'],
  title: {
    approve: (count: number) => [`Approve ${payouts(count)}`, `Одобрить ${payoutsRu(count)}`],
    reject: (count: number) => [`Reject ${payouts(count)}`, `Отклонить ${payoutsRu(count)}`],
  },
  consequence: {
    approve: (count: number, sum: string) => [
      `Drafts: ${count}, ${sum} together. The money goes to the recipients; it cannot be undone.`,
      `Черновиков: ${count}, всего ${sum}. Деньги уйдут получателям, отменить нельзя.`,
    ],
    reject: (count: number, sum: string) => [
      `Drafts: ${count}, ${sum} together. They will never become payouts.`,
      `Черновиков: ${count}, всего ${sum}. Выплат по ним не будет.`,
    ],
  },
  left: (count: number) => [
    `Left out: ${count}. Your own drafts need another person, and those to cards are approved one by one, with the number.`,
    `Пропущено: ${count}. Свои черновики одобряет другой человек, а выплаты на карты одобряют по одной, с номером карты.`,
  ],
  waits: ['Waits', 'Ждёт'],
  refused: ['Refused', 'Отказ'],
  decided: {
    approve: ['Approved', 'Одобрена'],
    reject: ['Rejected', 'Отклонена'],
  },
  done: {
    approve: (count: number) => [`Approved: ${count}.`, `Одобрено: ${count}.`],
    reject: (count: number) => [`Rejected: ${count}.`, `Отклонено: ${count}.`],
  },
  partly: {
    approve: (done: number, refused: number) => [
      `Approved: ${done}, refused: ${refused}: see the lines.`,
      `Одобрено: ${done}, отказано: ${refused}, причины в строках.`,
    ],
    reject: (done: number, refused: number) => [
      `Rejected: ${done}, refused: ${refused}: see the lines.`,
      `Отклонено: ${done}, отказано: ${refused}, причины в строках.`,
    ],
  },
});

/* The words of payouts from a file. */

export const batchWords = sectionWords({
  title: ['Payouts from a file', 'Выплаты из файла'],
  text: [
    'A CSV or XLSX file with a header row: amount, phone and bank, or account and BIK; name, INN and purpose if you have them. Each line becomes a draft, which another person approves.',
    'Файл CSV или XLSX с заголовком: сумма, телефон и банк либо счёт и БИК; если есть — ФИО, ИНН и назначение. Каждая строка станет черновиком, который одобрит другой человек.',
  ],
  fileHint: [
    'Up to 1,000 lines and 5 MB. Card numbers are not taken from files.',
    'До 1000 строк и 5 МБ. Номера карт из файлов не принимаются.',
  ],
  unreadable: ['This is neither a CSV nor an XLSX file.', 'Это не CSV и не XLSX.'],
  tooLarge: ['The file is larger than 5 MB.', 'Файл больше 5 МБ.'],
  tooLong: (lines: string) => [
    `The file has ${lines} lines: at most 1,000 are taken at once.`,
    `В файле строк: ${lines}. За один раз принимается не больше 1000.`,
  ],
  noAmounts: ['The header row has no “amount” column.', 'В заголовке нет столбца «сумма».'],
  noLines: ['There are no lines below the head.', 'Под заголовком нет строк.'],
  line: ['Line', 'Строка'],
  state: ['Check', 'Проверка'],
  good: ['Ready', 'Готова'],
  bad: ['Wrong', 'Ошибка'],
  same: (line: number) => [
    `Same as line ${line}: recipient and amount`,
    `Получатель и сумма как в строке ${line}`,
  ],
  sent: ['Proposed', 'Предложена'],
  wrong: {
    amount: [
      'amount from 0.01, and no comma between thousands alone: 10999 or 10,999.00',
      'сумма от 0,01; 10999 или 10 999,00, а не 10,999',
    ],
    phone: ['no Russian phone', 'не российский телефон'],
    bankId: ['no such bank, or several', 'такого банка нет, или их несколько'],
    cardPan: ['no card', 'нет карты'],
    accountNumber: ['account of 20 digits', 'счёт из 20 цифр'],
    bik: ['BIK of 9 digits', 'БИК из 9 цифр'],
    inn: ['INN of 10 or 12 digits', 'ИНН из 10 или 12 цифр'],
    fullName: ['name longer than 255', 'имя длиннее 255 символов'],
  },
  summary: (good: string, bad: string, sum: string) => [
    `${good} ready for ${sum}, ${bad} wrong`,
    `Готово: ${good} на ${sum}, с ошибками: ${bad}`,
  ],
  propose: (count: string) => [`Propose ${count}`, `Предложить ${count}`],
  payouts: (count: number) => [payouts(count), payoutsRu(count)],
  consequence: (count: number, sum: string, wrong: number) => [
    `Drafts to be made: ${count}, ${sum} together. Nothing moves until another person approves them.${wrong > 0 ? ` Wrong lines are left out: ${wrong}.` : ''}`,
    `Черновиков будет: ${count}, всего ${sum}. Деньги не движутся, пока их не одобрит другой человек.${wrong > 0 ? ` Строки с ошибками пропускаются: ${wrong}.` : ''}`,
  ],
  progress: (done: number, all: number) => [`${done} of ${all}`, `${done} из ${all}`],
  done: (count: number) => [
    `Waiting for another person: ${count}.`,
    `Ждут другого человека: ${count}.`,
  ],
  partly: (done: number, refused: number) => [
    `Proposed: ${done}, refused: ${refused}: see the table.`,
    `Предложено: ${done}, отказано: ${refused}, причины в таблице.`,
  ],
  columns: {
    amount: ['amount', 'сумма'],
    phone: ['phone', 'телефон'],
    bankId: ['bank', 'банк'],
    fullName: ['name', 'ФИО'],
    accountNumber: ['account', 'счёт'],
    bik: ['bik', 'БИК'],
    inn: ['inn', 'ИНН'],
    reason: ['purpose', 'назначение'],
  } satisfies Readonly<Record<Column, Pair<string>>>,
  sample: ['A sample file', 'Пример файла'],
  reason: ['What it is for, where the line does not say', 'Назначение, если его нет в строке'],
});
