-- Spreads the migrated tables over the workers of a Citus cluster by merchant. Run it once, on the
-- coordinator, as the service's role, after `node main.ts migrate` and before the service starts:
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file subgraphs/platform/fleet/distribute.sql
-- The tests read here which table is distributed by what (test/database/distribution.ts).

-- The log's and the balances' triggers read and write the row's own shard alone.
set citus.enable_unsafe_triggers = on;
-- The months of the audit log that the service makes have such triggers, too.
alter role current_user set citus.enable_unsafe_triggers = on;
-- One connection to each worker, and it is kept: by default a statement that asks several shards of
-- a worker opens more, and closes them when it has ended. Each costs more than the statement.
alter role current_user set citus.max_adaptive_executor_pool_size = 1;
-- Each statement over all merchants asks every shard, and each month of a partitioned table is a
-- shard of its own: few shards, no more than the cores that the workers will ever have.
set citus.shard_count = 4;

-- Small, read everywhere, written by operators: a copy on each machine.
select create_reference_table('api_key');
select create_reference_table('rate');
select create_reference_table('exchange_rate');
select create_reference_table('block_entry');
select create_reference_table('forbidden_word');
select create_reference_table('policy_version');
select create_reference_table('sbp_bank');

-- The merchant is found by its id, and all that is its own lies beside it.
select create_distributed_table('merchant', 'id', colocate_with => 'none');
select create_distributed_table('alert', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('api_request', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('audit_entry', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('audit_text', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('balance', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('balance_delta', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('bank_account', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('bank_call', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('page_opening', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('bank_order', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('bank_route', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('consumer_retry', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('counted_fact', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('event', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('hourly_total', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('idempotency_key', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('link_payment', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('payment', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('payment_link', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('payment_note', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('payout', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('payout_draft', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('ledger_hour', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('posting', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('receipt', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('receipt_terms', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('reconciliation_difference', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('refund', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('refund_draft', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('saved_view', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('dead_letter', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('shop', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('simulator_callback', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('simulator_hold_order', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('simulator_operation', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('subject_trace', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('subscription', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('subscription_charge', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('test_clock', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('token', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('webhook_attempt', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('webhook_delivery', 'merchant_id', colocate_with => 'merchant');
select create_distributed_table('webhook_endpoint', 'merchant_id', colocate_with => 'merchant');

-- What writes the rows of one merchant in several inserts runs on that merchant's machine.
select create_distributed_function(oid::regprocedure, '$1', colocate_with => 'payment')
  from pg_proc where pronamespace = 'public'::regnamespace and proname like 'shard_%';
-- Its numbers are drawn on the coordinator; its text names the sequence.
select run_command_on_workers('create sequence if not exists payment_public_id');
