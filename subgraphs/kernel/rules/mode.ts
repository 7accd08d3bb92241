/** Contract, "Modes": a key's prefix decides whether a simulator or a real acquirer answers. */
export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];
