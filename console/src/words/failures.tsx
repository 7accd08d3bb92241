/** The words of failure codes. A code without words is shown as it is: it is searched for by it. */
import { sectionWords, type CodePairs } from './table.ts';

const names = sectionWords<CodePairs>({
  do_not_honor: ['declined by the bank', 'банк отказал'],
  generic_decline: ['declined without a reason', 'отказ без причины'],
  insufficient_funds: ['not enough money', 'не хватает денег'],
  limit_exceeded: ['over a limit', 'превышен лимит'],
  call_issuer: ["the buyer's bank wants a call", 'банк покупателя ждёт звонка'],
  expired_card: ['card expired', 'срок карты истёк'],
  invalid_card_number: ['wrong card number', 'неверный номер карты'],
  invalid_expiry: ['wrong expiry date', 'неверный срок карты'],
  incorrect_cvc: ['wrong security code', 'неверный код карты'],
  lost_card: ['card reported lost', 'карта заявлена утерянной'],
  stolen_card: ['card reported stolen', 'карта заявлена украденной'],
  pickup_card: ['card to be withdrawn', 'карта изымается'],
  card_restricted: ['card restricted', 'карта ограничена'],
  transaction_not_permitted: ['not permitted for the card', 'картой так платить нельзя'],
  country_not_supported: ['country not supported', 'страна не поддерживается'],
  fraud_suspected: ['fraud suspected', 'подозрение на мошенничество'],
  authentication_failed: ['not confirmed by 3-D Secure', 'нет подтверждения 3-D Secure'],
  three_ds_failed: ['not confirmed by 3-D Secure', 'нет подтверждения 3-D Secure'],
  authorization_revoked: ['consent withdrawn', 'согласие отозвано'],
  identification_required: ['identification required', 'нужна идентификация'],
  account_not_found: ['no such account', 'счёта нет'],
  issuer_unavailable: ["the buyer's bank did not answer", 'банк покупателя не ответил'],
  processing_error: ['processing error', 'ошибка обработки'],
  session_expired: ['not finished in time', 'не закончили вовремя'],
  link_expired: ['not opened in time', 'не открыли вовремя'],
  capture_expired: ['not captured in time', 'деньги не списаны вовремя'],
  method_unavailable: ['method unavailable', 'способ недоступен'],
  unknown_bank_code: ['unknown code of the bank', 'неизвестный код банка'],
  bank_unknown: ['no such bank', 'такого банка нет'],
  recipient_not_in_sbp: ['recipient not in SBP', 'получателя нет в СБП'],
  recipient_check_failed: ['recipient not confirmed', 'получатель не подтверждён'],
  rejected_by_recipient_bank: ["declined by the recipient's bank", 'банк получателя отказал'],
  payout_limit_exceeded: ['over the limit of payouts', 'превышен лимит выплат'],
  acquirer_balance_insufficient: [
    'not enough money at the acquirer',
    'у эквайера не хватает денег',
  ],
  recipient_data_lost: ['the card was lost before it was sent', 'номер карты потерян до отправки'],
  refund_rejected: ['refund declined by the bank', 'банк отказал в возврате'],
  refund_window_closed: ['too late for a refund', 'срок возврата прошёл'],
});

export const failureName = (code: string): string => names[code] ?? code;

/** A code in words; the code itself is under the pointer. */
export const FailureName = ({ code }: { readonly code: string }) =>
  code === '' ? null : <span title={code}>{failureName(code)}</span>;
