/**
 * Live events and list changes: two subscriptions for the page, shared by its listeners. After a
 * lost connection screens query again, so nothing is missed.
 */
import { useEffect } from 'react';
import { useClient } from 'urql';
import { openListeners, openStore } from '../store.ts';
import * as graph from '../../../schema/generated/console.ts';

type Received = graph.LiveEventsSubscription['events'];

export interface LiveObjects {
  readonly payment: graph.PaymentRowFragment;
  readonly refund: graph.RefundRowFragment;
  readonly payout: graph.PayoutRowFragment;
  readonly subscription: graph.SubscriptionRowFragment;
}
interface Change<Kind extends keyof LiveObjects> {
  readonly kind: Kind;
  readonly isNew: boolean;
  readonly row: LiveObjects[Kind];
}

export type LiveChange = { [Kind in keyof LiveObjects]: Change<Kind> }[keyof LiveObjects];

const changes = openListeners<readonly LiveChange[]>();
const lists = openListeners<ReadonlySet<string>>();
const lostSince = openStore<Date | null>(null);

export const listenChanges = changes.listen;

/** Listens for changed lists that have no events of their own. */
export const listenLists = lists.listen;

/** Null while connected; else the moment of the disconnection. */
export const useLostAt = lostSince.use;

const screen = openListeners<void>();

/** Listens for what asks the queries of the screen anew. */
export const listenReload = screen.listen;

/** One function: a page that is hidden listens once, however often it missed something. */
const giveScreen = (): void => screen.give();

/**
 * Queries anew whatever is on the screen: an act may have changed any of it, or it was missed while
 * there was no connection. A hidden page does so when it is shown.
 */
export const reloadScreen = (): void => {
  if (document.visibilityState === 'visible') giveScreen();
  else document.addEventListener('visibilitychange', giveScreen, { once: true });
};

/** Takes the socket's state: it counts as open until its first message. */
export const setConnection = (state: 'open' | 'closed'): void => {
  const lostAt = lostSince.now();
  if (state === 'closed') return lostSince.set(lostAt ?? new Date());
  lostSince.set(null);
  if (lostAt) reloadScreen();
};

const changeOf = (event: Received): LiveChange | null => {
  switch (event.__typename) {
    case 'PaymentCreatedEvent':
      return { kind: 'payment', isNew: true, row: event.payment };
    case 'PaymentStatusChangedEvent':
      return { kind: 'payment', isNew: false, row: event.payment };
    case 'RefundCreatedEvent':
      return { kind: 'refund', isNew: true, row: event.refund };
    case 'PayoutCreatedEvent':
      return { kind: 'payout', isNew: true, row: event.payout };
    case 'PayoutStatusChangedEvent':
      return { kind: 'payout', isNew: false, row: event.payout };
    case 'SubscriptionStatusChangedEvent':
      return { kind: 'subscription', isNew: true, row: event.subscription };
  }
};

/** Events are batched: a burst redraws the screen only a few times a second. */
const debounce_ms = 150;

const openDebouncer = () => {
  let waiting: LiveChange[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  return (change: LiveChange): void => {
    waiting.push(change);
    timer ??= setTimeout(() => {
      const given = waiting;
      waiting = [];
      timer = null;
      changes.give(given);
    }, debounce_ms);
  };
};

/** The screen is queried anew at most once in this time, however many events were missed. */
const missed_ms = 2_000;

/** Subscribes to what happens to the objects of a merchant, or of all. */
export const useLiveEvents = (merchantId: string | null): void => {
  const client = useClient();
  useEffect(() => {
    const debounce = openDebouncer();
    let reload: ReturnType<typeof setTimeout> | null = null;
    const reloadSoon = (): void => {
      reload ??= setTimeout(() => {
        reload = null;
        reloadScreen();
      }, missed_ms);
    };
    const events = client
      .subscription(graph.LiveEvents, { merchantId })
      .subscribe(({ data, error, extensions }) => {
        const change = data && changeOf(data.events);
        if (change) debounce(change);
        if (error ?? extensions?.['missed']) reloadSoon();
      });
    const changed = client
      .subscription(graph.ListsChanged, { merchantId })
      .subscribe(({ data }) => {
        if (data) lists.give(new Set(data.listsChanged.lists));
      });
    return () => {
      if (reload) clearTimeout(reload);
      events.unsubscribe();
      changed.unsubscribe();
    };
  }, [client, merchantId]);
};
