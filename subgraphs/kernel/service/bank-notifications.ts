/** Notifications of acquirers: the routes that their folders bring and the REST facade serves. */

/** A request to the address of an acquirer's notifications. */
export interface Notification {
  /** The caller's address. */
  readonly address: string;
  /** The named parts of the path. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The operation that a notification is about, by our own ids. */
export interface NotifiedOperation {
  readonly merchantId: string;
  readonly operationId: string;
  readonly isPayout: boolean;
}

/**
 * Where an acquirer notifies us. Nothing that a notification describes is believed: the acquirer is
 * asked about the operation that it names.
 */
export interface NotificationRoute {
  /** A path of the public side; `:name` is a parameter. */
  readonly path: string;
  /** Whether a notification is the acquirer's, by its address or its signature. */
  verify(notification: Notification): boolean;
  /** The operation that a verified notification is about; null when it names none of ours. */
  read(notification: Notification): NotifiedOperation | null;
  /** The text by which the acquirer knows that its notification arrived; null: status 200 alone. */
  readonly acknowledgement: string | null;
}
