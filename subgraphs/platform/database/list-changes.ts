/**
 * Changes of lists that people watch, noted where rows are written and passed on after the commit.
 * A hint: a process that ends between the two passes nothing on, and readers of the lists also
 * poll.
 */
import pg from 'pg';
import type { Bus, ChangedList, ListChange } from '../bus/bus.ts';
import { poolOf } from './pool-of.ts';

type Watcher = (changes: readonly ListChange[]) => void;

const watchers = new WeakMap<pg.Pool, Watcher>();
/** Of transactions that are under way, by their clients. */
const uncommitted = new WeakMap<object, ListChange[]>();

/**
 * Notes that a list of a merchant has changed (null: of the platform). On a client the note is
 * passed on at the commit and dropped at a rollback; on a pool it is passed on at once.
 */
export const noteListChange = (runner: pg.Pool | pg.PoolClient, change: ListChange): void => {
  if (runner instanceof pg.Pool) {
    watchers.get(runner)?.([change]);
    return;
  }
  const pool = poolOf(runner);
  if (!pool || !watchers.has(pool)) return;
  const noted = uncommitted.get(runner);
  if (noted) noted.push(change);
  else uncommitted.set(runner, [change]);
};

/** Passes on what a client's transaction has noted, or drops it. */
export const endListChanges = (client: pg.PoolClient, isCommitted: boolean): void => {
  const noted = uncommitted.get(client);
  if (!noted) return;
  uncommitted.delete(client);
  const pool = poolOf(client);
  if (isCommitted && pool) watchers.get(pool)?.(noted);
};

/** The lists that an audit entry about this kind of subject changes. */
const listsOfSubject: Readonly<Record<string, readonly ChangedList[]>> = {
  alert: ['alerts'],
  payout_draft: ['payout_drafts'],
  reconciliation: ['reconciliation_differences'],
  reconciliation_difference: ['reconciliation_differences'],
  refund_draft: ['refund_drafts'],
  webhook_delivery: ['webhook_deliveries', 'webhook_failures'],
};

/** The lists that an audit entry changes: the log itself, and the list of its subject. */
export const listsOfEntry = (subjectKind: string): readonly ChangedList[] => [
  'audit_log',
  ...(listsOfSubject[subjectKind] ?? []),
];

/** How long changes are batched into one message. */
const debounce_ms = 100;
const message_max = 200;

/**
 * Publishes the changes noted on this pool and its clients to other processes, batched. Returns a
 * function that stops this.
 */
export const announceListChanges = (pool: pg.Pool, bus: Pick<Bus, 'publish'>): (() => void) => {
  const waiting = new Map<string, ListChange>();
  let timer: NodeJS.Timeout | null = null;
  const publish = (): void => {
    timer = null;
    const changes = [...waiting.values()];
    waiting.clear();
    for (let from = 0; from < changes.length; from += message_max)
      // It never rejects: a message is a hint.
      void bus.publish('lists', changes.slice(from, from + message_max));
  };
  watchers.set(pool, (changes) => {
    for (const change of changes) waiting.set(`${change.list} ${change.merchantId}`, change);
    timer ??= setTimeout(publish, debounce_ms);
  });
  return () => {
    watchers.delete(pool);
    if (timer) clearTimeout(timer);
  };
};
