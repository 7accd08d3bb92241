/** A merchant with money in its test balance, from payments that were really made. */
import { pay } from '../support/buyer.ts';
import { makeMerchant, type Merchant } from '../support/merchant.ts';
import type { Service } from '../support/service.ts';
import { eventually } from '../support/eventually.ts';

/** Makes a merchant and pays it `count` times `amount`; `paidIds` are those payments. */
export const makeFundedMerchant = async (
  service: Pick<Service, 'rest' | 'graph'>,
  count = 1,
  amount = 100_000_00,
): Promise<Merchant & { readonly paidIds: readonly string[] }> => {
  const merchant = await makeMerchant(service);
  const payOne = async (): Promise<string> => {
    const { body } = await merchant.call('POST', '/payments', { amount, method: 'sbp' });
    const { id } = body.payment;
    await pay(body.payment_url);
    await eventually(
      async () => (await merchant.call('GET', `/payments/${id}`)).body.status === 'succeeded',
      'the payment',
    );
    return id;
  };
  return { ...merchant, paidIds: await Promise.all(Array.from({ length: count }, payOne)) };
};
