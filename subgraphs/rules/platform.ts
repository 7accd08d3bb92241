/**
 * Stands for the merchant in rows about the platform itself, since every key of a table starts with
 * a merchant.
 */
export const platformMerchantId = '00000000-0000-0000-0000-000000000000';
