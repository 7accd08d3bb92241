/** One payment with everything about it, as its screen asks for it. */
import type { PaymentQuery } from '../../../schema/generated/console.ts';

export type PaymentDetails = NonNullable<PaymentQuery['payment']>;
