/** Where a payment's hosted page is. */
import { signPageToken } from '../../kernel/service/graph/page-token.ts';
import type { PaymentKey } from '../store-payment.ts';
import type { Keys } from '../../kernel/service/access/keys.ts';

/** What the address is made of. */
export interface PageParts {
  /** Address of the hosted pages, without a slash at the end. */
  readonly publicUrl: string;
  readonly pageSecret: Keys;
}

/**
 * Joined, for the reason that `rfc3339` has: one text in parts slows the writing of the whole
 * answer.
 */
export const pageAddress = (
  { publicUrl, pageSecret }: PageParts,
  { merchantId, paymentId }: PaymentKey,
): string => [publicUrl, 'pay', signPageToken(pageSecret, { merchantId, paymentId })].join('/');
