/** The words of the audit log: what was done, and what was changed. */
import { actionNames } from './audit-actions.ts';
import { sectionWords } from './table.ts';

export const subjectWords = sectionWords({
  field: ['Field', 'Поле'],
  nothing: ['nothing', 'пусто'],
  kinds: {
    alert: ['Alert', 'Тревога'],
    api_key: ['API key', 'Ключ API'],
    bank_account: ['Bank account', 'Счёт у банка'],
    bank_operation: ['Bank operation', 'Операция банка'],
    bank_route: ['Route', 'Маршрут'],
    block_entry: ['Block list entry', 'Запись стоп-листа'],
    console_session: ['Session', 'Сеанс'],
    exchange_rate: ['Exchange rate', 'Курс валюты'],
    forbidden_purpose: ['Forbidden word', 'Запрещённое слово'],
    link: ['Payment link', 'Платёжная ссылка'],
    merchant: ['Merchant', 'Мерчант'],
    payment: ['Payment', 'Платёж'],
    payout_draft: ['Proposed payout', 'Предложенная выплата'],
    person: ['Person', 'Человек'],
    rate: ['Fee', 'Комиссия'],
    receipt: ['Receipt', 'Чек'],
    reconciliation: ['Registry', 'Реестр'],
    reconciliation_difference: ['Difference', 'Расхождение'],
    refund: ['Refund', 'Возврат'],
    refund_draft: ['Proposed refund', 'Предложенный возврат'],
    registry: ['Registry', 'Реестр'],
    saved_view: ['View', 'Вид списка'],
    sbp_banks: ['Banks of SBP', 'Банки СБП'],
    shop: ['Shop', 'Магазин'],
    subscription: ['Subscription', 'Подписка'],
    token: ['Saved method', 'Сохранённый способ'],
    webhook_delivery: ['Webhook', 'Вебхук'],
    webhook_endpoint: ['Webhook endpoint', 'Адрес вебхуков'],
  },
});

const names: Readonly<Record<string, string>> = sectionWords(actionNames);

/** Returns an action's name; for an action newer than this page, its code. */
export const actionName = (action: string): string => names[action] ?? action;
