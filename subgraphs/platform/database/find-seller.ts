/** Who sells: what the pages of a merchant's payments, links and customers say of it. */
import type { Merchant } from './entities.ts';
import { columns, run, type Runner, type Statement } from './statement.ts';

const fields = ['legalName', 'inn', 'contactEmail', 'contactPhone', 'siteUrl', 'offerUrl'] as const;

export type Seller = Pick<Merchant, (typeof fields)[number]>;

/** By hand: every payment's page reads it, and the ORM took a tenth of the CPU of a payment. */
const seller: Statement = {
  name: 'merchant.seller',
  text: `select ${columns(fields)} from merchant where id = $1`,
};

/** The seller to the buyers of a merchant. Throws when there is no such merchant. */
export const findSeller = async (runner: Runner, merchantId: string): Promise<Seller> => {
  const [found] = await run<Seller>(runner, seller, [merchantId]);
  if (!found) throw new Error(`there is no merchant ${merchantId}`);
  return found;
};
