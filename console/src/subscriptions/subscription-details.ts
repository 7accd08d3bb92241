/** One subscription with everything about it, as its drawer asks for it. */
import type { SubscriptionQuery } from '../../../schema/generated/console.ts';

export type SubscriptionDetails = NonNullable<SubscriptionQuery['billingSubscription']>;
