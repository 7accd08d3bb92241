/**
 * Contract "Webhooks": `data` is the whole object at the moment of the event, with the same fields
 * as GET gives.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Merchant, Received } from './merchant.ts';

/**
 * What GET answers now for the object that a webhook is about: a payment or a payout. Null while
 * the service is away.
 */
const readSubject = async (
  merchant: Merchant,
  { body }: Pick<Received, 'body'>,
): Promise<unknown> => {
  const kind = String(body.event).split('.')[0];
  const { status, body: answer } = await merchant.call('GET', `/${kind}s/${body.data.id}`);
  if (status === 503) return null;
  if (status !== 200) throw new Error(`GET of a ${kind} answered ${status}`);
  return answer;
};

/**
 * Whether a webhook holds exactly what GET answers now: while the object has not changed since the
 * event.
 */
export const isAsGetAnswers = async (
  merchant: Merchant,
  webhook: Pick<Received, 'body'>,
): Promise<boolean> => isDeepStrictEqual(webhook.body.data, await readSubject(merchant, webhook));
