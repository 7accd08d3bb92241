/** The prefix of a key decides its mode (docs/contract.md#test-and-live). */
export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];
