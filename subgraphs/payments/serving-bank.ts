/**
 * Which acquirer will serve a live payment of a fixed method, as it is created. Decision D-31: a
 * method that nobody serves is refused then, not on the page. The order itself is opened when the
 * buyer goes on: an acquirer such as YooKassa gives its buyer an hour, which must not run while the
 * link waits.
 */
import type { Bank } from '../kernel/banks/bank.ts';
import type { Banks } from '../kernel/banks/route.ts';
import type { Mode } from '../kernel/rules/mode.ts';
import { isRefused, refused, type Refused } from '../kernel/rules/refusal.ts';
import { buyerMethod } from './checkout/rules.ts';
import type { PaymentMethod } from './rules/payment.ts';

/**
 * The bank, or `route_not_configured` or `method_unsupported`; null in test mode and where the
 * buyer chooses the method. `holds`: the bank must hold the money (decision D-84).
 */
export const servingBank = async (
  banks: Pick<Banks, 'route'>,
  {
    merchantId,
    shopId,
    mode,
  }: { readonly merchantId: string; readonly shopId: string; readonly mode: Mode },
  named: PaymentMethod,
  holds = false,
): Promise<Bank | Refused | null> => {
  const method = buyerMethod(named);
  // Everything but holding is what the simulator does by every method.
  if (!method || (mode === 'test' && !holds)) return null;
  const bank = await banks.route({
    merchantId,
    shopId,
    mode,
    operation: 'payment',
    method,
    holds,
  });
  if (isRefused(bank)) return bank;
  if (mode === 'test') return null;
  if (bank.methods.includes(method)) return bank;
  return refused('method_unsupported', `${bank.bankName} does not take ${method}`);
};
