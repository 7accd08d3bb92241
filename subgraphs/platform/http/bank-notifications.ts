/** Notifications of acquirers: their folders define the routes and the REST facade serves them. */

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

/** What became of a receipt, where the acquirer has no call that asks. */
export interface NotifiedReceipt {
  readonly merchantId: string;
  /** Our operation's id of the payment. */
  readonly paymentId: string;
  readonly type: 'payment' | 'refund' | 'closing';
  /** Minor units. */
  readonly amount: number;
  /** Null when it failed. */
  readonly fiscal: {
    readonly storageNumber: string;
    readonly documentNumber: string;
    readonly attribute: string;
    /** ISO 8601; null when it is not stated. */
    readonly registeredAt: string | null;
  } | null;
  /** Why it failed; null when it is registered. */
  readonly failureReason: string | null;
}

/**
 * Where an acquirer notifies us. The content of a notification is not trusted: we query the
 * acquirer about the operation that it names. A receipt is trusted where the notification is
 * signed.
 */
export interface NotificationRoute {
  readonly connector: string;
  /** A path of the public side; `:name` is a parameter. */
  readonly path: string;
  /** Whether a notification is the acquirer's, by its address or its signature. */
  verify(notification: Notification): boolean;
  /** The operation that a verified notification is about; null when it names none of ours. */
  read(notification: Notification): NotifiedOperation | null;
  /**
   * The receipt that a verified notification reports as final; null in any other. Absent: in none.
   */
  readReceipt?(notification: Notification): NotifiedReceipt | null;
  /** The response text that acknowledges the notification; null: status 200 alone. */
  readonly acknowledgement: string | null;
}
