/** A shop with its keys, as the developers' screen queries it. */
import type { DeveloperShopsQuery } from '../../../schema/generated/console.ts';

type OfMerchantRow = NonNullable<DeveloperShopsQuery['merchant']>;
export type DeveloperShop = OfMerchantRow['shops'][number];
