/** Who sells: what the pages of a merchant's payments and links say of it. */
import type { Seller } from '../../../schema/generated/payments.ts';
import { run, type Runner, type Statement } from '../../platform/database/statement.ts';

const sellerOfMerchant: Statement = {
  name: 'merchant.seller',
  text: `select legal_name as "legalName", inn, contact_email as "contactEmail", contact_phone as "contactPhone",
      site_url as "siteUrl", offer_url as "offerUrl"
    from merchant where id = $1`,
};

/** The seller of a merchant's payments and links. Throws when there is no such merchant. */
export const findSeller = async (runner: Runner, merchantId: string): Promise<Seller> => {
  const [seller] = await run<Seller>(runner, sellerOfMerchant, [merchantId]);
  if (!seller) throw new Error(`there is no merchant ${merchantId}`);
  return seller;
};
