/**
 * The callbacks of the simulated bank. Like any bank it may send them late, twice, in the wrong
 * order, or with the opposite of an earlier one; the payment's metadata key `simulator_callbacks`
 * plans these. Without a plan it sends none and is queried.
 */
import { dueOn } from '../../platform/clock/due.ts';
import { emOn } from '../../platform/database/orm-connections.ts';
import type { Runner } from '../../platform/database/statement.ts';
import type { PlannedCallbacks } from '../../rules/banks.ts';
import { SimulatorCallbackEntity, type SimulatorCallback } from '../entities.ts';
import type { SessionOrder } from '../bank.ts';

/**
 * The content of a callback: the bank's decision, its opposite, or that there is no decision yet.
 */
type CallbackKind = SimulatorCallback['kind'];

/** The callbacks of a plan, with how long after the decision each of them comes. */
const plans: Readonly<
  Record<PlannedCallbacks, readonly { readonly kind: CallbackKind; readonly after_ms: number }[]>
> = {
  delayed: [{ kind: 'decision', after_ms: 30_000 }],
  duplicate: [0, 1_000, 2_000].map((after_ms) => ({ kind: 'decision', after_ms })),
  // The callback that was sent first arrives last.
  reordered: [
    { kind: 'decision', after_ms: 0 },
    { kind: 'pending', after_ms: 1_000 },
  ],
  contradictory: [
    { kind: 'decision', after_ms: 0 },
    { kind: 'opposite', after_ms: 1_000 },
  ],
  late: [{ kind: 'decision', after_ms: 0 }],
  unanswered: [],
};

/** How long after the session's end the bank decides what is planned as late. */
const lateDecision_ms = 5_000;
/** How long a bank planned as unanswered ignores queries: longer than we wait before the first. */
const silence_ms = 15_000;

/** When the bank decides, given its decision time without a plan of callbacks; null: never. */
export const decidesAt = (
  planned: PlannedCallbacks | null,
  usual: Temporal.Instant | null,
  order: SessionOrder,
): Temporal.Instant | null => {
  if (usual === null || planned === null) return usual;
  switch (planned) {
    case 'late':
      return order.sessionUntil.add({ milliseconds: lateDecision_ms });
    // It overtakes the answer to the order itself.
    case 'reordered':
      return order.now;
    case 'delayed':
    case 'duplicate':
    case 'contradictory':
    case 'unanswered':
      return usual;
  }
};

/** Until when the bank answers nothing, including the order itself; null: it answers. */
export const silentUntil = (
  planned: PlannedCallbacks | null,
  now: Temporal.Instant,
): Temporal.Instant | null =>
  planned === 'unanswered' ? now.add({ milliseconds: silence_ms }) : null;

export const planCallbacks = async (
  runner: Runner,
  { merchantId, operationId, shopId }: SessionOrder,
  planned: PlannedCallbacks,
  decided: Temporal.Instant,
): Promise<void> => {
  const whose = { merchantId, operationId, shopId, mode: 'test' } as const;
  const callbacks = plans[planned].map(({ kind, after_ms }, index) => ({
    ...whose,
    number: index + 1,
    kind,
    dueAt: decided.add({ milliseconds: after_ms }),
  }));
  if (callbacks.length > 0)
    await emOn(runner)
      .createQueryBuilder(SimulatorCallbackEntity)
      .insert(callbacks)
      .onConflict()
      .ignore()
      .execute();
};

export type PlannedCallback = Pick<
  SimulatorCallback,
  'merchantId' | 'operationId' | 'number' | 'kind'
>;

/** The callbacks that are on their way. */
export const simulatorCallbacks = dueOn<PlannedCallback>({
  name: 'simulator_callbacks',
  table: 'simulator_callback',
  at: 'due_at',
  subject: 'operation_id',
  columns: 'merchant_id as "merchantId", operation_id as "operationId", number, kind',
});

/** Marks a callback as received: banks repeat one until it is answered. */
export const markReceived = async (
  runner: Runner,
  { merchantId, operationId, number }: PlannedCallback,
): Promise<void> => {
  await emOn(runner).nativeDelete(SimulatorCallbackEntity, { merchantId, operationId, number });
};
