/** The words of the audit log: what was done, and what was changed. */
import { en as actionsEn, ru as actionsRu } from './audit-actions.ts';
import { sectionWords } from './words.ts';

const en = {
  field: 'Field',
  nothing: 'nothing',
  kinds: {
    alert: 'Alert',
    api_key: 'API key',
    bank_account: 'Bank account',
    bank_operation: 'Bank operation',
    bank_route: 'Route',
    block_entry: 'Block list entry',
    console_session: 'Session',
    exchange_rate: 'Exchange rate',
    forbidden_purpose: 'Forbidden word',
    link: 'Payment link',
    merchant: 'Merchant',
    payment: 'Payment',
    payout_draft: 'Proposed payout',
    person: 'Person',
    rate: 'Fee',
    receipt: 'Receipt',
    reconciliation: 'Registry',
    reconciliation_difference: 'Difference',
    refund: 'Refund',
    refund_draft: 'Proposed refund',
    registry: 'Registry',
    saved_view: 'View',
    sbp_banks: 'Banks of SBP',
    shop: 'Shop',
    subscription: 'Subscription',
    token: 'Saved method',
    webhook_delivery: 'Webhook',
    webhook_endpoint: 'Webhook endpoint',
  },
};

const ru: typeof en = {
  field: 'Поле',
  nothing: 'пусто',
  kinds: {
    alert: 'Тревога',
    api_key: 'Ключ API',
    bank_account: 'Счёт у банка',
    bank_operation: 'Операция банка',
    bank_route: 'Маршрут',
    block_entry: 'Запись стоп-листа',
    console_session: 'Сеанс',
    exchange_rate: 'Курс валюты',
    forbidden_purpose: 'Запрещённое слово',
    link: 'Платёжная ссылка',
    merchant: 'Мерчант',
    payment: 'Платёж',
    payout_draft: 'Предложенная выплата',
    person: 'Человек',
    rate: 'Комиссия',
    receipt: 'Чек',
    reconciliation: 'Реестр',
    reconciliation_difference: 'Расхождение',
    refund: 'Возврат',
    refund_draft: 'Предложенный возврат',
    registry: 'Реестр',
    saved_view: 'Вид списка',
    sbp_banks: 'Банки СБП',
    shop: 'Магазин',
    subscription: 'Подписка',
    token: 'Сохранённый способ',
    webhook_delivery: 'Вебхук',
    webhook_endpoint: 'Адрес вебхуков',
  },
};

export const useSubjectWords = sectionWords(en, ru);

export const useActionNames = sectionWords(actionsEn, actionsRu);

/** Returns an action's name; for an action newer than this page, its code. */
export const useActionName = (): ((action: string) => string) => {
  const names: Readonly<Record<string, string>> = useActionNames();
  return (action) => names[action] ?? action;
};
