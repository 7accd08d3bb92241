/** How soon a payment that was created is in the merchant's event stream. */
import { request } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Merchant } from '../support/merchant.ts';

const payments = 300;
const perSecond = 50;
/** An event that does not come. */
const patience_ms = 10_000;

/** Opens the stream; `received` is given the ids that come: of events and of their payments. */
const openStream = async (
  origin: string,
  key: string,
  received: (id: string) => void,
): Promise<() => void> => {
  const headers = { authorization: `Bearer ${key}` };
  const asked = request(`${origin}/v1/public/events`, { headers });
  asked.end();
  const [answer] = await once(asked, 'response');
  answer.setEncoding('utf8').on('data', (text: string) => {
    for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)) received(id);
  });
  // A stream is cut where the bench ends it.
  asked.on('error', () => {});
  answer.on('error', () => {});
  return () => asked.destroy();
};

/**
 * Milliseconds from the answer to each payment's creation, which follows its commit, until its
 * event was received; an event that is there before the answer counts as 0.
 */
export const timeStream = async (
  origin: string,
  merchant: Merchant,
): Promise<readonly number[]> => {
  const arrived = new Map<string, number>();
  const close = await openStream(origin, merchant.key, (id) => {
    if (!arrived.has(id)) arrived.set(id, performance.now());
  });
  const answered = new Map<string, number>();
  const began_ms = performance.now();
  for (let index = 0; index < payments; index += 1) {
    const { body } = await merchant.call('POST', '/payments', { amount: 10_000, method: 'sbp' });
    answered.set(body.payment.id, performance.now());
    await sleep(Math.max(0, began_ms + ((index + 1) * 1_000) / perSecond - performance.now()));
  }
  const last_ms = performance.now();
  while (![...answered.keys()].every((id) => arrived.has(id))) {
    if (performance.now() - last_ms > patience_ms) throw new Error('an event did not come');
    await sleep(10);
  }
  close();
  return [...answered].map(([id, at_ms]) => Math.max(0, (arrived.get(id) ?? 0) - at_ms));
};
