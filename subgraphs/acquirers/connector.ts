/**
 * The contents of an acquirer's folder: its configuration, the address of its notifications and how
 * to open it. `subgraphs/read-config` lists the acquirers; nothing outside their folders names one.
 */
import type { Runner } from '../platform/database/statement.ts';
import type { Keys } from '../platform/access/keys.ts';
import type { NotificationRoute } from '../platform/http/bank-notifications.ts';
import type { Bank } from './bank.ts';

export interface ConnectorDeps {
  /** Alerts are raised on it. */
  readonly pool: Runner;
  /** Opens the secrets of merchants' own accounts. */
  readonly vaultKey: Keys;
  /** Where the acquirer reaches us. */
  readonly publicUrl: string;
}

/** A connector holds connections until it is closed. */
export interface OpenedBank extends Bank {
  close(): Promise<void>;
}

/** An acquirer for which this installation is configured. */
export interface Connector {
  readonly notifications: NotificationRoute;
  /** Loads and opens it; makes no call until it is used. */
  open(parts: ConnectorDeps): Promise<OpenedBank>;
}
