/** Where a payment's hosted page is. */
import type { Keys } from '../access/keys.ts';
import { signPageToken, type PageSubject } from './page-token.ts';

/** What the address is made of. */
export interface PageDeps {
  /** Address of the hosted pages, without a slash at the end. */
  readonly publicUrl: string;
  readonly pageSecret: Keys;
}

/**
 * Joined, for the reason that `rfc3339` has: one text in parts slows the writing of the whole
 * answer.
 */
export const pageAddress = (
  { publicUrl, pageSecret }: PageDeps,
  { merchantId, paymentId }: PageSubject,
): string => [publicUrl, 'pay', signPageToken(pageSecret, { merchantId, paymentId })].join('/');
