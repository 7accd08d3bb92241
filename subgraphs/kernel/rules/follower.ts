/**
 * Who follows the event log durably. An event names the part of the service that must not miss it;
 * that part keeps its own position in the log, and moves it in the transaction of the effect.
 */
const followers = ['recurring'] as const;
export type Follower = (typeof followers)[number];
