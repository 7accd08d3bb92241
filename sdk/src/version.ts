/** The version of this package, by semver. */
export const version = '1.0.0';

/** The version of the interface that this package speaks: its `X-Api-Version`. */
export const apiVersion = '2026-05-06';
