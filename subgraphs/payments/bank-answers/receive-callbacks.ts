/**
 * Receives the callbacks of the simulated bank, and applies each like every other answer of a bank.
 */
import type { Banks } from '../../acquirers/route.ts';
import type { PlannedCallback } from '../../acquirers/simulator/callbacks.ts';
import type { Timeline } from '../../platform/clock/due.ts';
import type { Database } from '../../platform/database/orm.ts';
import { eachAlone } from '../../platform/alerts/dead-letters.ts';
import { applyBankAnswer } from './apply-bank-answer.ts';

const sweep_max = 500;
const paymentsAtOnce = 16;

/**
 * Those of one payment, in their order. One that was applied and not marked as received is applied
 * again: every answer may come twice.
 */
const receiveOne = async (
  database: Database,
  banks: Banks,
  callbacks: readonly PlannedCallback[],
  now: Temporal.Instant,
): Promise<void> => {
  const { simulator } = banks;
  for (const callback of callbacks) {
    const key = { merchantId: callback.merchantId, paymentId: callback.operationId };
    await applyBankAnswer(
      database,
      key,
      simulator.connector,
      await simulator.answerOf(callback),
      now,
    );
    await simulator.callbacks.markReceived(callback);
  }
};

/** Receives all callbacks that have arrived on a timeline; gives how many. */
export const receiveCallbacks = async (
  database: Database,
  banks: Banks,
  now: Temporal.Instant,
  timeline: Timeline = null,
): Promise<number> => {
  const due = await banks.simulator.callbacks.due(timeline, now, sweep_max);
  const byPayment = Map.groupBy(
    due,
    ({ merchantId, operationId }) => `${merchantId}/${operationId}`,
  );
  const { task } = banks.simulator.callbacks;
  const subjectOf = ([name]: readonly [string, unknown]) => ({
    merchantId: name.slice(0, name.indexOf('/')),
    subjectId: name.slice(name.indexOf('/') + 1),
  });
  await eachAlone(
    database.pool,
    { task, limit: paymentsAtOnce, subjectOf },
    [...byPayment],
    ([, callbacks]) => receiveOne(database, banks, callbacks, now),
  );
  return due.length;
};
