/** How the emulated cash registers behave, at both acquirers. */

/**
 * `usual`: a receipt is registered after a moment; `delayed`: after seconds; `failed`: none is
 * registered; `silent`: none ever ends; `off`: there is no cash register.
 */
export const receiptBehaviours = ['usual', 'delayed', 'failed', 'silent', 'off'] as const;
export type ReceiptBehaviour = (typeof receiptBehaviours)[number];

/** How long a receipt takes; null: for ever. */
export const delayOf = (behaviour: ReceiptBehaviour): number | null =>
  ({ usual: 300, delayed: 4_000, failed: 300, silent: null, off: null })[behaviour];

/**
 * Whether a receipt fails; `before`: how many of the same there were. Of a sum that ends in 08
 * kopecks the first one does.
 */
export const doesFail = (behaviour: ReceiptBehaviour, sum: bigint, before: number): boolean =>
  behaviour === 'failed' || (sum % 100n === 8n && before === 0);
