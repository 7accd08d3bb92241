/** The names of webhook events, to validate input before reading the log. */
import type { WebhookEventName } from '../schemas.ts';
import type { Option } from './command.ts';
import { Failure } from './failure.ts';

/** A name that the description has and this table lacks does not compile. */
const known: Readonly<Record<WebhookEventName, true>> = {
  'payment.authorized': true,
  'payment.succeeded': true,
  'payment.failed': true,
  'payment.cancelled': true,
  'payment.expired': true,
  'payment.refunded': true,
  'refund.failed': true,
  'payout.created': true,
  'payout.succeeded': true,
  'payout.failed': true,
  'link.paid': true,
  'receipt.registered': true,
  'receipt.failed': true,
  'subscription.activated': true,
  'subscription.past_due': true,
  'subscription.paused': true,
  'subscription.resumed': true,
  'subscription.cancelled': true,
  'token.activated': true,
  'token.cancelled': true,
};

const names: readonly string[] = Object.keys(known);

/** The option that filters a log. */
export const eventsOption: Option = {
  says: 'only these, separated by commas; may be repeated',
  value: 'names',
  many: true,
  choices: names,
};

/** The names of that option as the log's filter takes them. Throws for one that does not exist. */
export const readEventNames = (texts: readonly string[]): string | undefined => {
  const given = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Failure('usage', `--events: there is no ${unknown || '""'}; see psp listen --help`);
  return given.length === 0 ? undefined : given.join(',');
};
