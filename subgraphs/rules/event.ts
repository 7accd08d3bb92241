/**
 * Events. Webhook events (docs/contract.md#webhooks) are final facts; stream kinds
 * (docs/contract.md#stream-payloads) include intermediate changes. The graph's subscriptions know
 * one kind more than the REST stream.
 */
import { enums } from '../../schema/generated/enums.ts';
import type { Mode } from './mode.ts';

/**
 * The kinds of the graph's subscriptions: those of the REST stream, and status changes of
 * subscriptions.
 */
export const liveKinds = enums.LiveEventKind;
export type LiveKind = (typeof liveKinds)[number];

/** The name of a kind in the graph's enums, which cannot hold a dot: `payment_status_changed`. */
type GraphKind<Kind extends string> = Kind extends `${infer Noun}.${infer Verb}`
  ? `${Noun}_${Verb}`
  : Kind;
/** `payment.status_changed` as `PaymentStatusChanged`. */
type Pascal<Name extends string> = Name extends `${infer Noun}.${infer Verb}`
  ? `${Pascal<Noun>}${Pascal<Verb>}`
  : Name extends `${infer First}_${infer Rest}`
    ? `${Capitalize<First>}${Pascal<Rest>}`
    : Capitalize<Name>;

const pascal = (kind: string): string =>
  kind
    .split(/[._]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

/** What the graph calls a kind in its enums. */
export const graphKindOf = <Kind extends string>(kind: Kind): GraphKind<Kind> =>
  kind.replace('.', '_') as GraphKind<Kind>;

/** The values of a graph's enum, as resolvers take them: each with the kind behind it. */
export const enumValuesOf = <Kind extends string>(kinds: readonly Kind[]) =>
  Object.fromEntries(kinds.map((kind) => [graphKindOf(kind), kind])) as {
    readonly [Each in Kind as GraphKind<Each>]: Each;
  };

/** The kind that the graph's enum names so. Throws when there is none. */
export const liveKindOf = (name: string): LiveKind => {
  const found = liveKinds.find((kind) => graphKindOf(kind) === name);
  if (!found) throw new Error(`no kind of the stream is named ${name}`);
  return found;
};

export type EventTypeName = `${Pascal<LiveKind>}Event`;

export const eventTypeOf = <Kind extends LiveKind>(kind: Kind): `${Pascal<Kind>}Event` =>
  `${pascal(kind)}Event` as `${Pascal<Kind>}Event`;

/** The graph's subscription to the kind. */
export const subscriptionOf = <Kind extends LiveKind>(kind: Kind): Uncapitalize<Pascal<Kind>> => {
  const name = pascal(kind);
  return (name.charAt(0).toLowerCase() + name.slice(1)) as Uncapitalize<Pascal<Kind>>;
};

export const webhookEvents = enums.WebhookEvent;
export type WebhookEvent = (typeof webhookEvents)[number];

/**
 * The log has these always, and an endpoint gets them when its filter names them. An empty filter
 * means all others, as it did before there were any of these.
 */
export const namedWebhookEvents = [
  'refund.failed',
  'payout.created',
  'subscription.activated',
  'subscription.past_due',
  'subscription.paused',
  'subscription.resumed',
  'subscription.cancelled',
  'token.activated',
  'token.cancelled',
] as const satisfies readonly WebhookEvent[];

/**
 * One event of the stream as the bus carries it and the stream publishes it. `sequence` ascends in
 * the order of the stream.
 */
export interface StreamedEvent {
  readonly sequence: string;
  readonly kind: LiveKind;
  readonly merchantId: string;
  readonly shopId: string;
  readonly mode: Mode;
  /** The payment, payout, refund or subscription that it is about. */
  readonly subjectId: string;
  /** RFC 3339. */
  readonly at: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A row as the subject of an event or an alert. */
export const asSubject = (
  row: Pick<StreamedEvent, 'merchantId' | 'shopId' | 'mode'> & { readonly id: string },
) => ({ merchantId: row.merchantId, shopId: row.shopId, mode: row.mode, subjectId: row.id });

/**
 * Durable consumers of the event log. An event may name the part of the service that must process
 * it; that part keeps its own offset in the log, and moves it in the transaction of the effects.
 * `totals` counts every event, without being named.
 */
export type Consumer = 'recurring' | 'totals';
