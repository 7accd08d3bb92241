/** Who sells: what the pages of a merchant's payments, links and customers say of it. */
import { MerchantEntity, type Merchant } from './entities.ts';
import { emOn } from './orm-connections.ts';
import type { Runner } from './statement.ts';

const fields = ['legalName', 'inn', 'contactEmail', 'contactPhone', 'siteUrl', 'offerUrl'] as const;

export type Seller = Pick<Merchant, (typeof fields)[number]>;

/** The seller to the buyers of a merchant. Throws when there is no such merchant. */
export const findSeller = (runner: Runner, merchantId: string): Promise<Seller> =>
  emOn(runner).findOneOrFail(MerchantEntity, { id: merchantId }, { fields });
