/**
 * Every balance equals its entries, and what is reserved equals what is pending. The entries of a
 * shop are those of its merchant's checkpoint and what came since, or its whole ledger.
 */
import type { Check } from './check.ts';
import { enteredEver, enteredSince } from './checkpoint.ts';

/** The balances as they are kept: the rows and what is not folded into them yet. */
const kept = `select moved.merchant_id, moved.shop_id, moved.mode, moved.currency, moved.account, sum(moved.amount) as amount
  from part join (select merchant_id, shop_id, mode, currency, account, amount from balance
    union all select merchant_id, shop_id, mode, currency, account, amount from balance_delta) as moved
    on moved.merchant_id = part.merchant_id and moved.shop_id = part.id
  group by 1, 2, 3, 4, 5`;

const subject = (side: string): string =>
  `${side}.mode || '/' || ${side}.currency || '/' || ${side}.account`;

const addsUp = (part: string, booked: string): string =>
  `with part as materialized (${part}),
    kept as (${kept}),
    ${booked},
    entered as (select merchant_id, shop_id, mode, currency, account, sum(amount) as amount from moved group by 1, 2, 3, 4, 5),
    wrong as (select coalesce(kept.merchant_id, entered.merchant_id) as merchant_id, coalesce(kept.shop_id, entered.shop_id) as shop_id,
        coalesce(kept.mode, entered.mode) as mode, coalesce(${subject('kept')}, ${subject('entered')}) as account,
        coalesce(kept.amount, 0) as kept, coalesce(entered.amount, 0) as entered
      from kept full join entered using (merchant_id, shop_id, mode, currency, account))
    select merchant_id as "merchantId", shop_id as "shopId", mode, shop_id || '/' || account as "subjectId",
      'the balance ' || account || ' of the shop is ' || kept || ', its entries sum to ' || entered as detail
    from wrong where kept <> entered limit $5`;

const balanceAddsUp: Check = {
  name: 'balance_adds_up',
  walk: 'shop',
  text: (part) => addsUp(part, enteredEver),
  fromCheckpoint: (part) => addsUp(part, enteredSince),
};

const reserveCovers: Check = {
  name: 'reserve_covers',
  walk: 'shop',
  text: (part) => `with part as materialized (${part}),
    kept as (${kept}),
    waiting as (
      select refund.merchant_id, refund.shop_id, refund.mode, payment.currency, refund.amount
      from part join refund on refund.merchant_id = part.merchant_id and refund.shop_id = part.id and refund.status = 'pending'
        join payment on payment.merchant_id = refund.merchant_id and payment.id = refund.payment_id
      union all
      select payout.merchant_id, payout.shop_id, payout.mode, payout.currency, payout.amount + payout.fee
      from part join payout on payout.merchant_id = part.merchant_id and payout.shop_id = part.id and payout.status = 'pending'),
    due as (select merchant_id, shop_id, mode, currency, sum(amount) as amount from waiting group by 1, 2, 3, 4),
    reserved as (select * from kept where account = 'merchant_reserved'),
    wrong as (select coalesce(due.merchant_id, reserved.merchant_id) as merchant_id, coalesce(due.shop_id, reserved.shop_id) as shop_id,
        coalesce(due.mode, reserved.mode) as mode, coalesce(due.currency, reserved.currency) as currency,
        coalesce(reserved.amount, 0) as reserved, coalesce(due.amount, 0) as due
      from due full join reserved using (merchant_id, shop_id, mode, currency))
    select merchant_id as "merchantId", shop_id as "shopId", mode, shop_id || '/' || mode || '/' || currency as "subjectId",
      'reserved are ' || reserved || ' ' || currency || ', the pending refunds and payouts are ' || due as detail
    from wrong where reserved <> due limit $5`,
};

export const balancedChecks: readonly Check[] = [balanceAddsUp, reserveCovers];
