/**
 * The statements that read over all merchants: a closed list, each with what makes it so. All are
 * bounded and lock nothing.
 */
/** Statements by why they read over all merchants. */
const byReason: Readonly<Record<string, readonly string[]>> = {
  "the test bank's own report of a day, as an acquirer would have it": [
    'simulator.settlement_report',
  ],
  'finds the merchants that have something due': [
    'alert.owners_of_unpublished',
    'balance.fold_merchants',
    'relay.waiting_shards',
    'retention.event_owners',
    'retention.webhook_delivery_owners',
    'retention.webhook_attempt_owners',
    'retention.bank_call_owners',
    'retention.page_opening_owners',
    'retention.alert_owners',
    'retention.idempotency_key_owners',
    'retention.reconciliation_difference_owners',
    'retention.simulator_hold_order_owners',
    'retention.simulator_operation_owners',
    'retention.subject_trace_owners',
    'retention.dead_letter_owners',
    'payment_asks.next_owner',
    'payment_asks.owners',
    'payment_holds.next_owner',
    'payment_holds.owners',
    'payment_link_lives.next_owner',
    'payment_link_lives.owners',
    'payment_links.next_owner',
    'payment_links.owners',
    'payment_sessions.next_owner',
    'payment_sessions.owners',
    'payout_asks.next_owner',
    'payout_asks.owners',
    'payout_draft_lives.next_owner',
    'payout_draft_lives.owners',
    'refund_draft_lives.next_owner',
    'refund_draft_lives.owners',
    'receipt_asks.next_owner',
    'receipt_asks.owners',
    'refund_asks.next_owner',
    'refund_asks.owners',
    'simulator_callbacks.next_owner',
    'simulator_callbacks.owners',
    'subscription_asks.next_owner',
    'subscription_asks.owners',
    'subscriptions.next_owner',
    'subscriptions.owners',
    'test_clock.owners',
    'webhook.failing_owners',
  ],
  'changes that the totals have not counted, some thousand at most': ['books.uncounted'],
  'finds what is sealed with a former key, a page at most': [
    'reseal.find_bank_account_secret_sealed',
    'reseal.find_shop_previous_webhook_secret_sealed',
    'reseal.find_shop_signing_secret_sealed',
    'reseal.find_shop_webhook_secret_sealed',
    'reseal.find_webhook_endpoint_previous_secret_sealed',
    'reseal.find_webhook_endpoint_secret_sealed',
  ],
  'finds whether a sweep has work': [
    'sweeps.due_ask-receipts_0',
    'sweeps.due_charge-subscriptions_0',
    'sweeps.due_charge-subscriptions_1',
    'sweeps.due_count-totals_0',
    'sweeps.due_count-totals_1',
    'sweeps.due_end-holds_0',
    'sweeps.due_expire-links_0',
    'sweeps.due_expire-payments_0',
    'sweeps.due_expire-payments_1',
    'sweeps.due_expire-payout-drafts_0',
    'sweeps.due_expire-refund-drafts_0',
    'sweeps.due_fold-balances_0',
    'sweeps.due_publish-alerts_0',
    'sweeps.due_receive-simulator-callbacks_0',
    'sweeps.due_send-payouts_0',
    'sweeps.due_sweep-bank-answers_0',
    'sweeps.due_sweep-refunds_0',
    'sweeps.due_sweep-test-clocks_0',
  ],
  'finds the shops whose clocks have work': ['test_clock.with_work'],
  'finds what was made before there were totals, a page at most': [
    'totals.page_payment',
    'totals.page_payout',
  ],
  'the events of one consumer are in the order of all numbers': ['totals.events'],
  'how much is left to be sealed anew, for the operator who rotates a key': ['reseal.count'],
  "an operator's search, a page at most": [
    'payout.search_id',
    'search.event',
    'search.payments_of_all',
    'search.payments_of_one',
    'search.request',
    'search.token',
  ],
  "an operator's search by an id, a page at most": ['search.id'],
  'a gauge over all merchants': ['books.count_differences', 'money.unsettled', 'webhook.backlog'],
  'the newest of all numbers': ['relay.newest_sequence'],
  'finds the row to set aside': [
    'payment_asks.first',
    'payment_holds.first',
    'payment_link_lives.first',
    'payment_links.first',
    'payment_sessions.first',
    'payout_asks.first',
    'payout_draft_lives.first',
    'refund_draft_lives.first',
    'receipt_asks.first',
    'refund_asks.first',
    'retention.alert_first',
    'retention.bank_call_first',
    'retention.event_first',
    'retention.idempotency_key_first',
    'retention.reconciliation_difference_first',
    'retention.simulator_hold_order_first',
    'retention.simulator_operation_first',
    'retention.page_opening_first',
    'retention.subject_trace_first',
    'retention.dead_letter_first',
    'retention.webhook_attempt_first',
    'retention.webhook_delivery_first',
    'simulator_callbacks.first',
    'subscription_asks.first',
    'subscriptions.first',
  ],
  "finds whose operations a report's lines are, some thousand at a time": [
    'reconciliation.made_payment',
    'reconciliation.made_payout',
    'reconciliation.made_refund',
    'reconciliation.probe_payment',
    'reconciliation.probe_payout',
    'reconciliation.probe_refund',
  ],
  'finds the accounts with deltas, a page at most': ['balance.fold_accounts'],
  'finds who a key speaks for; each gateway keeps the answer': ['api_key.holders'],
  'finds what goes wrong slowly, a page at most': [
    'watch.endpoint_fails',
    'watch.payout_stuck',
    'watch.success_falls',
  ],
};

/** The reason by the statement's name. */
export const overAll: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(byReason).flatMap(([reason, names]) => names.map((name) => [name, reason])),
);

/** Reads over all merchants that the ORM makes: how their shapes begin (`support/orm-statements`). */
export const ormOverAll: Readonly<Record<string, string>> = {
  'select from alert': 'the alerts that operators see, a page at most',
  'select from payment_link where id = ? limit ?': 'finds the merchant of a public address',
  'select from merchant': "an operator's list of merchants, a page at most",
  'select from audit_entry': "an operator's list of changes, a page at most",
  'select from audit_text': 'the texts of the changes on such a page',
  'select from reconciliation_difference':
    'the differences of a run over all merchants, a page at most',
  'select from shop where merchant_id in (?, ?)': 'the shops of the merchants on a page',
  'select from shop where (merchant_id, id) > (?, ?)':
    'the next shops whose operations a report may miss, a page at most',
  'select from webhook_endpoint where merchant_id in (?, ?) and shop_id in (?, ?)':
    'the endpoints of the shops on a page',
  'select from event where sequence = ?': 'whether a stream can go on behind an event',
  'select from event where sequence > ?':
    'the stream is in the order of all numbers, a page at most',
  'select from event where follower = ? and sequence > ?':
    'the events of one consumer are in the order of all numbers',
  'select from event where sequence is null and': 'the oldest of the outbox',
  'select from consumer_retry where': 'what is due, a page at most',
  'select from token where status = ? and created_at <= ? and':
    'the tokens that wait longest, a page at most',
};

/**
 * Statements for all merchants that run in one database alone (`platform/database/sql-file`), each with
 * the one that runs instead where the tables are sharded.
 */
export const inOneDatabase: Readonly<Record<string, string>> = {
  'sweeps.due': 'sweeps.due_check-books_0',
  'platform/events/number-oldest': 'platform/events/number-shard',
};

/**
 * Statements for merchants whose rows are on one shard, each named by `= any ($n)`: the program
 * asks Citus which these are. Each with what it is for.
 */
export const ofOneShard: Readonly<Record<string, string>> = {
  'relay.lock_shard': 'waits until the relay before has ended',
  'platform/events/number-shard': 'numbers the events of a shard in one transaction',
};
