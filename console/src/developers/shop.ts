/** A shop with its keys, as the screen for developers asks for it. */
import type { DeveloperShopsQuery } from '../../../schema/generated/console.ts';

type OfMerchantRow = NonNullable<DeveloperShopsQuery['merchant']>;
export type DeveloperShop = OfMerchantRow['shops'][number];
