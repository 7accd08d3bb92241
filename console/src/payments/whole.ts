/** One payment with everything about it, as its screen asks for it. */
import type { PaymentQuery } from '../../../schema/generated/console.ts';

export type Whole = NonNullable<PaymentQuery['payment']>;
