/**
 * Durable consumers of the event log. An event names the part of the service that must process it;
 * that part keeps its own offset in the log, and moves it in the transaction of the effects.
 */
export type Consumer = 'recurring';
