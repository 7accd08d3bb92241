/** The words of failure codes. A code without words is shown as it is: it is searched for by it. */
import { sectionWords } from './words.ts';

type Named = Readonly<Record<string, string>>;

const en: Named = {
  do_not_honor: 'declined by the bank',
  generic_decline: 'declined without a reason',
  insufficient_funds: 'not enough money',
  limit_exceeded: 'over a limit',
  call_issuer: "the buyer's bank wants a call",
  expired_card: 'card expired',
  invalid_card_number: 'wrong card number',
  invalid_expiry: 'wrong expiry date',
  incorrect_cvc: 'wrong security code',
  lost_card: 'card reported lost',
  stolen_card: 'card reported stolen',
  pickup_card: 'card to be withdrawn',
  card_restricted: 'card restricted',
  transaction_not_permitted: 'not permitted for the card',
  country_not_supported: 'country not supported',
  fraud_suspected: 'fraud suspected',
  authentication_failed: 'not confirmed by 3-D Secure',
  three_ds_failed: 'not confirmed by 3-D Secure',
  authorization_revoked: 'consent withdrawn',
  identification_required: 'identification required',
  account_not_found: 'no such account',
  issuer_unavailable: "the buyer's bank did not answer",
  processing_error: 'processing error',
  session_expired: 'not finished in time',
  link_expired: 'not opened in time',
  capture_expired: 'not captured in time',
  method_unavailable: 'method unavailable',
  unknown_bank_code: 'unknown code of the bank',
  bank_unknown: 'no such bank',
  recipient_not_in_sbp: 'recipient not in SBP',
  recipient_check_failed: 'recipient not confirmed',
  rejected_by_recipient_bank: "declined by the recipient's bank",
  payout_limit_exceeded: 'over the limit of payouts',
  acquirer_balance_insufficient: 'not enough money at the acquirer',
  recipient_data_lost: 'the card was lost before it was sent',
  refund_rejected: 'refund declined by the bank',
  refund_window_closed: 'too late for a refund',
};

const ru: Named = {
  do_not_honor: 'банк отказал',
  generic_decline: 'отказ без причины',
  insufficient_funds: 'не хватает денег',
  limit_exceeded: 'превышен лимит',
  call_issuer: 'банк покупателя ждёт звонка',
  expired_card: 'срок карты истёк',
  invalid_card_number: 'неверный номер карты',
  invalid_expiry: 'неверный срок карты',
  incorrect_cvc: 'неверный код карты',
  lost_card: 'карта заявлена утерянной',
  stolen_card: 'карта заявлена украденной',
  pickup_card: 'карта изымается',
  card_restricted: 'карта ограничена',
  transaction_not_permitted: 'картой так платить нельзя',
  country_not_supported: 'страна не поддерживается',
  fraud_suspected: 'подозрение на мошенничество',
  authentication_failed: 'нет подтверждения 3-D Secure',
  three_ds_failed: 'нет подтверждения 3-D Secure',
  authorization_revoked: 'согласие отозвано',
  identification_required: 'нужна идентификация',
  account_not_found: 'счёта нет',
  issuer_unavailable: 'банк покупателя не ответил',
  processing_error: 'ошибка обработки',
  session_expired: 'не закончили вовремя',
  link_expired: 'не открыли вовремя',
  capture_expired: 'деньги не списаны вовремя',
  method_unavailable: 'способ недоступен',
  unknown_bank_code: 'неизвестный код банка',
  bank_unknown: 'такого банка нет',
  recipient_not_in_sbp: 'получателя нет в СБП',
  recipient_check_failed: 'получатель не подтверждён',
  rejected_by_recipient_bank: 'банк получателя отказал',
  payout_limit_exceeded: 'превышен лимит выплат',
  acquirer_balance_insufficient: 'у эквайера не хватает денег',
  recipient_data_lost: 'номер карты потерян до отправки',
  refund_rejected: 'банк отказал в возврате',
  refund_window_closed: 'срок возврата прошёл',
};

const useNamed = sectionWords(en, ru);

export const useFailureName = (): ((code: string) => string) => {
  const names = useNamed();
  return (code) => names[code] ?? code;
};

/** A code in words; the code itself is under the pointer. */
export const FailureName = ({ code }: { readonly code: string }) => {
  const nameOf = useFailureName();
  return code === '' ? null : <span title={code}>{nameOf(code)}</span>;
};
