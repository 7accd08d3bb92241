/** Who sells: what the pages of a merchant's payments, links and customers say of it. */
import { run, type Runner, type Statement } from './statement.ts';

export interface Seller {
  readonly legalName: string | null;
  readonly inn: string | null;
  readonly contactEmail: string | null;
  readonly contactPhone: string | null;
  readonly siteUrl: string | null;
  readonly offerUrl: string | null;
}

const sellerOfMerchant: Statement = {
  name: 'merchant.seller',
  text: `select legal_name as "legalName", inn, contact_email as "contactEmail", contact_phone as "contactPhone",
      site_url as "siteUrl", offer_url as "offerUrl"
    from merchant where id = $1`,
};

/** The seller to the buyers of a merchant. Throws when there is no such merchant. */
export const findSeller = async (runner: Runner, merchantId: string): Promise<Seller> => {
  const [seller] = await run<Seller>(runner, sellerOfMerchant, [merchantId]);
  if (!seller) throw new Error(`there is no merchant ${merchantId}`);
  return seller;
};
