/**
 * Chooses the acquirer of a live payment with a fixed method when it is created, so that a method
 * without an acquirer is refused then and not on the page. The session is opened when the buyer
 * continues: an acquirer such as YooKassa gives the buyer an hour, which must not run while the
 * link waits.
 */
import type { Bank } from '../acquirers/bank.ts';
import type { Banks } from '../acquirers/route.ts';
import { defaultCurrency } from '../rules/money.ts';
import { isRefusal, refuse, type Refusal } from '../rules/refusal.ts';
import { buyerMethod } from './checkout/rules.ts';
import type { CaptureMode } from './holds/rules.ts';
import type { PaymentMethod } from './rules/payment.ts';

/** What a bank must take. */
export interface Served {
  readonly method: PaymentMethod;
  readonly currency: string;
  readonly capture: CaptureMode;
}

type ShopInMode = Parameters<Banks['liveModeRefusal']>[0] & { readonly shopId: string };

/**
 * Why no method of the shop takes the currency of a payment whose buyer chooses the method, or pays
 * by card; null when one does. Roubles may wait for a method that comes later.
 */
const currencyRefusal = async (
  banks: Pick<Banks, 'offered'>,
  shop: ShopInMode,
  { method, currency, capture }: Served,
): Promise<Refusal | null> => {
  if (currency === defaultCurrency) return null;
  const holds = capture === 'manual';
  const offered = await banks.offered({ ...shop, currency, holds });
  const isTaken = method === 'any' ? offered.length > 0 : offered.includes('cards');
  return isTaken
    ? null
    : refuse('method_unsupported', `no payment method of the shop supports ${currency}`);
};

/**
 * The bank, or `route_not_configured` or `method_unsupported`, also where it does not take the
 * currency; null in test mode and where the buyer chooses the method. A bank of a manual capture
 * must hold the money.
 */
export const servingBank = async (
  banks: Pick<Banks, 'route' | 'offered'>,
  { merchantId, shopId, mode }: ShopInMode,
  served: Served,
): Promise<Bank | Refusal | null> => {
  const { currency, capture } = served;
  const method = buyerMethod(served.method);
  if (!method) return currencyRefusal(banks, { merchantId, shopId, mode }, served);
  const holds = capture === 'manual';
  // Everything else is what the simulator does by every method.
  if (mode === 'test' && !holds && currency === defaultCurrency) return null;
  const shop = { merchantId, shopId, mode };
  const bank = await banks.route({ ...shop, operation: 'payment', method, currency, holds });
  return isRefusal(bank) || mode === 'live' ? bank : null;
};
