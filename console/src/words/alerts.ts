/** The words of alerts beyond their kinds, and of the audit log's filters. */
import { sectionWords, type Pair } from './table.ts';
import type * as graph from '../../../schema/generated/console.ts';

export const alertWords = sectionWords({
  actors: {
    key: ['API key', 'ключ API'],
    service: ['the service', 'сервис'],
    edge: ['the service', 'сервис'],
    buyer: ['buyer', 'покупатель'],
  },
  sentences: {
    late_success: [
      'A bank took money for a payment that had ended. It is refunded automatically; check that it is.',
      'Банк взял деньги по уже закрытому платежу. Они вернутся сами; проверьте, что вернулись.',
    ],
    link_exhausted: [
      'A link without uses left was paid. The money is refunded automatically; check that it is.',
      'Оплачена ссылка, по которой платежей больше не ждали. Деньги вернутся сами; проверьте это.',
    ],
    books_differ: [
      'Sums of the books do not agree. Nothing is corrected automatically.',
      'Суммы в учёте не сходятся. Сами они не исправятся.',
    ],
    reconciliation_difference: [
      'A registry of the bank and our operations do not agree.',
      'Реестр банка и наши операции не сошлись.',
    ],
    event_without_delivery: [
      'An event has no webhook: the shop may not know of it.',
      'У события нет вебхука: магазин мог о нём не узнать.',
    ],
    bank_answer_contradicts: [
      'A bank has changed its answer after the end. Nothing has changed here; contact the bank.',
      'Банк изменил ответ, когда всё уже закончилось. У нас ничего не изменилось; спросите банк.',
    ],
    bank_echo_differs: [
      'A bank answers for another operation or amount. Nothing was moved; check with the bank.',
      'Банк отвечает о другой операции или сумме. Деньги не двигались; выясните, что верно у банка.',
    ],
    balance_at_bound: [
      'A payment would exceed the bound of a balance: its money is in suspense.',
      'Баланс достиг предела: деньги платежа отложены.',
    ],
    dead_letter: [
      'A task fails on one row, sets it aside, and retries it automatically.',
      'Фоновая задача не может обработать одну запись: она пропущена, попытки повторяются.',
    ],
    receipt_failed: [
      'The cash register refused a receipt. It can be sent again from its payment.',
      'Касса не приняла чек. Отправить его ещё раз можно из платежа.',
    ],
    bank_degraded: [
      'Many calls to the bank fail. Payments may be declined or wait.',
      'Много запросов в банк не удаётся. Платежи могут отклоняться или ждать.',
    ],
    success_falls: [
      'Clearly fewer payments succeed than in the days before.',
      'Успешных платежей заметно меньше, чем в прошлые дни.',
    ],
    endpoint_fails: [
      'Nothing has been delivered to it for a day: the shop knows of nothing new.',
      'За сутки туда ничего не доставлено: магазин не знает ни о чём новом.',
    ],
    payout_stuck: [
      'The bank has not said for hours what became of it. Ask the bank.',
      'Банк часами не говорит, что с ней. Спросите банк.',
    ],
    key_expires: [
      'A key that is in use stops working within a week. Replace it before.',
      'Рабочий ключ перестанет действовать в течение недели. Замените его заранее.',
    ],
  },
  returnRefused: [
    'A bank refused to refund money that came for a payment that had ended. It is in suspense: order the refund again.',
    'Банк отказался вернуть деньги, которые пришли по уже закрытому платежу. Они отложены: закажите возврат ещё раз.',
  ],
  retryRefund: ['Order the refund again', 'Заказать возврат ещё раз'],
  retryRefundText: [
    'The bank gets a new order for the whole amount.',
    'Банк получит новое поручение на всю сумму.',
  ],
  refundRetried: (status: string) => [
    `Ordered again. The refund: ${status}.`,
    `Заказано ещё раз. Возврат: ${status}.`,
  ],
  severity: ['Severity', 'Срочность'],
  severities: {
    critical: ['Critical', 'Критично'],
    warning: ['Warning', 'Важно'],
  },
  assignee: ['Assignee', 'Занимается'],
  nobody: ['nobody', 'никто'],
  mine: ['Mine', 'Мои'],
  unassigned: ['Unassigned', 'Ничьи'],
  found: ['What was found', 'Что найдено'],
  about: ['About', 'О чём'],
  toSubject: ['Show it', 'Показать'],
  toPayment: (name: string) => [`Payment ${name}`, `Платёж ${name}`],
  notAssigned: ['Not assigned', 'Не назначено'],
  subject: ['Id of what was changed', 'Id объекта'],
  actor: ['Who', 'Кто'],
});

/* The words of what an alert found. */

export const alertFactWords = sectionWords({
  subject: ['Id', 'ID'],
  names: {
    bank: ['Bank', 'Банк'],
    payment: ['Payment', 'Платёж'],
    refund: ['Refund', 'Возврат'],
    receipt: ['Receipt', 'Чек'],
    status: ['Status here', 'Статус у нас'],
    reason: ['Reason', 'Причина'],
    code: ['Code of the bank', 'Код банка'],
    amount: ['Amount here', 'Сумма у нас'],
    currency: ['Currency', 'Валюта'],
    bank_operation: ['Operation at the bank', 'Операция в банке'],
    bank_status: ['Status at the bank', 'Статус в банке'],
    bank_amount: ['Amount at the bank', 'Сумма в банке'],
    registry: ['Registry', 'Реестр'],
    count: ['In all', 'Всего'],
    failed: ['Failed', 'Не удалось'],
    minutes: ['Minutes', 'За минут'],
    hours: ['Hours', 'За часов'],
    share: ['Succeeded lately, %', 'Успешных сейчас, %'],
    share_before: ['Succeeded before, %', 'Успешных раньше, %'],
    url: ['Address', 'Адрес'],
    key: ['Key', 'Ключ'],
    ends_at: ['Ends', 'Действует до'],
    task: ['Task', 'Задача'],
    row: ['Row', 'Запись'],
    error: ['Error', 'Ошибка'],
    check: ['Check', 'Проверка'],
    account: ['Account', 'Счёт'],
    expected: ['It should be', 'Должно быть'],
    found: ['It is', 'Сейчас'],
    lacking: ['Missing', 'Не хватает'],
    unexpected: ['Unexpected', 'Лишнее'],
    event: ['Event', 'Событие'],
  } satisfies Record<graph.AlertFieldName, Pair<string>>,
  values: {
    payment_booked: ['postings of payments', 'проводки платежей'],
    refund_booked: ['postings of refunds', 'проводки возвратов'],
    payout_booked: ['postings of payouts', 'проводки выплат'],
    payment_refunded: ['refunded amounts of payments', 'возвращённые суммы платежей'],
    posting_sourced: ['sources of postings', 'основания проводок'],
    balance_adds_up: ['balances against postings', 'балансы против проводок'],
    ledger_hours_add_up: ['balances against hours', 'балансы против почасовых сумм'],
    reserve_covers: [
      'reserve against pending refunds and payouts',
      'резерв против ожидающих возвратов и выплат',
    ],
    event_delivered: ['webhooks of events', 'вебхуки событий'],
    event_relayed: ['events that have not left', 'неотправленные события'],
    payment_counted: ['payments in reports', 'платежи в отчётах'],
    refund_counted: ['refunds in reports', 'возвраты в отчётах'],
    payout_counted: ['payouts in reports', 'выплаты в отчётах'],
    hour_adds_up: ['hourly totals of shops', 'почасовые итоги магазинов'],
    hours_together: ['hourly totals of the merchant', 'почасовые итоги мерчанта'],
    merchant: ['available money', 'доступные деньги'],
    merchant_reserved: ['reserved money', 'деньги в резерве'],
    approved: ['approved', 'одобрено'],
    declined: ['declined', 'отклонено'],
    misrouted: ['unknown to the bank', 'банку неизвестна'],
    simulator: ['Simulated bank', 'Учебный банк'],
    yookassa: ['YooKassa', 'ЮKassa'],
    tbank: ['T-Bank', 'Т-Банк'],
    shop: ['shop', 'магазин'],
    payment: ['payment', 'платёж'],
    refund: ['refund', 'возврат'],
    payout: ['payout', 'выплата'],
  },
});
