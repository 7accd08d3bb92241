/** The test clock of a merchant's shop, as an operator sets it. */
import assert from 'node:assert/strict';
import { askGraph, type Merchant } from './merchant.ts';
import type { Service } from './service.ts';
import { eventually } from './eventually.ts';

export type Clock = {
  readonly now: string;
  readonly frozen: boolean;
  readonly advancingTo: string | null;
};

/** Calls the mutation `testClock<verb>` for the merchant's shop; gives what it answers. */
export const setClock = async (
  service: Pick<Service, 'graph'>,
  { id, shopId }: Merchant,
  verb: string,
  args = '',
): Promise<any> => {
  const field = `testClock${verb}(merchantId: "${id}", shopId: "${shopId}"${args})`;
  const answer = await askGraph(
    service,
    `mutation { ${field} { __typename ... on ${verb === 'Remove' ? 'TestClockRemoved { shopId }' : 'TestClock { now frozen advancingTo }'} ... on Refused { code message } } }`,
  );
  return answer[`testClock${verb}`];
};

/** The clock of the merchant's shop. */
export const readClock = async (
  service: Pick<Service, 'graph'>,
  { id, shopId }: Merchant,
): Promise<Clock> => {
  const answer = await askGraph(
    service,
    `{ testClock(merchantId: "${id}", shopId: "${shopId}") { now frozen advancingTo } }`,
  );
  return answer.testClock;
};

/** Advances the clock and waits until it has arrived. */
export const advanceClock = async (
  service: Pick<Service, 'graph'>,
  merchant: Merchant,
  to: string,
): Promise<void> => {
  const { __typename, message } = await setClock(service, merchant, 'Advance', `, to: "${to}"`);
  assert.equal(__typename, 'TestClock', message);
  const clock = await eventually(async () => {
    const seen = await readClock(service, merchant);
    return seen.advancingTo === null ? seen : undefined;
  }, 'the clock has arrived');
  assert.equal(clock.now, to);
};
