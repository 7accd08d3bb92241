/**
 * Durable consumers of the event log. An event may name the part of the service that must process
 * it; that part keeps its own offset in the log, and moves it in the transaction of the effects.
 * `totals` counts every event, without being named.
 */
export type Consumer = 'recurring' | 'totals';
