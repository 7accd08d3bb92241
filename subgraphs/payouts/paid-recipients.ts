/** Recipients that were paid before: they are paid again without typing a phone or an account. */
import { columns, run, type Runner, type Statement } from '../platform/database/statement.ts';
import type { Mode } from '../rules/mode.ts';
import { refuse, type Refusal } from '../rules/refusal.ts';
import type { Payout } from './entities.ts';
import { loadPayouts, payoutNames } from './find-payouts.ts';
import { recipientView } from './payout-view.ts';
import type { PayoutInput } from './rules/create.ts';

/** Payouts of a shop and method that are looked at, and recipients that are returned. */
const looked_max = 1_000;
const recipients_max = 200;

// Each shop and method is a range of the index payout_filter. Erased recipients have no address.
const paid: Statement = {
  name: 'payout.paid_recipients',
  text: `select ${columns(payoutNames, 'latest')} from (
      select distinct on (found.method, coalesce(found.recipient_phone, found.recipient_account), coalesce(found.recipient_bank_id, found.recipient_bik)) found.*
      from shop cross join (values ('payouts_sbp'), ('payouts_account')) as way (method) cross join lateral (
        select * from payout where payout.merchant_id = $1 and payout.shop_id = shop.id and payout.mode = $2 and payout.status = 'succeeded'
          and payout.method = way.method order by payout.created_at desc, payout.id desc limit ${looked_max}) as found
      where shop.merchant_id = $1 and coalesce(found.recipient_phone, found.recipient_account) is not null
      order by found.method, coalesce(found.recipient_phone, found.recipient_account), coalesce(found.recipient_bank_id, found.recipient_bik), found.created_at desc
    ) as latest order by latest.created_at desc, latest.id desc limit ${recipients_max}`,
};

/** The newest successful payout to each of them, newest first. */
export const findPaidRecipients = (
  runner: Runner,
  { merchantId, mode }: { readonly merchantId: string; readonly mode: Mode },
): Promise<Payout[]> => run<Payout>(runner, paid, [merchantId, mode]);

interface Again {
  readonly merchantId: string;
  readonly mode: Mode;
  /** The earlier payout; null: the input has its recipient. */
  readonly recipientOf: string | null;
  readonly input: PayoutInput;
}

/** The input with the recipient of an earlier payout. */
export const inputAgain = async (
  runner: Runner,
  { merchantId, mode, recipientOf, input }: Again,
): Promise<PayoutInput | Refusal> => {
  if (recipientOf === null) return input;
  const { amount, currency, orderId, metadata, method: _, ...other } = input;
  if (Object.values(other).some((value) => value !== null && value !== undefined))
    return refuse('bad_request', 'input: expected an amount alone beside recipientOf');
  const [payout] = await loadPayouts(runner, [{ merchantId, id: recipientOf }]);
  const recipient = payout && recipientView(payout);
  if (payout?.mode !== mode || (recipient?.phone ?? recipient?.accountNumber ?? null) === null)
    return refuse('not_found', 'there is no such recipient');
  return { amount, currency, orderId, metadata, method: payout.method, ...recipient };
};
