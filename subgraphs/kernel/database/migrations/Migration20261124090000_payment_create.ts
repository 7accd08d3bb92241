/**
 * A merchant's new payments, each with its event and the claim of its key, as the statements of
 * `payments/insert-statements` write them. A function, since Citus sends the rows of an insert that
 * is a part of another statement over the coordinator: what is called with a merchant runs on that
 * merchant's machine, where each insert is a statement of its own. Decision A-313.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261124090000_payment_create extends Migration {
  override up(): void {
    // A payment's columns are those that are sent: one that is added later needs no other function.
    this.addSql(`create or replace function payment_create(merchant uuid, is_batch boolean, sent json) returns text language plpgsql volatile
      set plan_cache_mode = force_generic_plan as $$
      declare
        one json;
        made payment;
        place shop;
        lock_key bigint;
        created json[] := '{}';
      begin
        perform set_config('lock_timeout', case when is_batch then '100' else '5000' end, true);
        for one in select value from json_array_elements(sent) loop
          made := json_populate_record(null::payment, one->'payment');
          if place.id is distinct from made.shop_id then
            select * into place from shop where shop.merchant_id = merchant and shop.id = made.shop_id;
          end if;
          continue when place.id is null;
          if one->>'key' is not null then
            lock_key := hashtextextended('idempotency/' || merchant::text || made.mode || (one->>'key'), 0);
            if is_batch then
              continue when not pg_try_advisory_xact_lock(lock_key);
            else
              perform pg_advisory_xact_lock(lock_key);
              perform set_config('lock_timeout', greatest(1000, 5000 - 1000 * extract(epoch from clock_timestamp() - statement_timestamp()))::int::text, true);
            end if;
            insert into idempotency_key (merchant_id, mode, key, fingerprint, shop_id, resource_id, created_at)
              values (merchant, made.mode, one->>'key', one->>'fingerprint', made.shop_id, made.id, made.created_at)
              on conflict do nothing;
            continue when not found;
          end if;
          execute (
            select format('insert into payment (merchant_id, terminal_id, terminal_name, shop_name, %s) values (%L, %L, %L, %L, %s) returning *',
              string_agg(quote_ident(key), ', '), merchant, place.terminal_id, place.terminal_name, place.name, string_agg(quote_nullable(value), ', '))
            from json_each_text(one->'payment') where key <> 'merchant_id') into made;
          insert into event (merchant_id, id, position, shop_id, mode, subject_id, stream_kind, payload, created_at)
            values (merchant, (one->>'event_id')::uuid, (one->>'position')::bigint, made.shop_id, made.mode, made.id, 'payment.created',
              jsonb_build_object('id', made.id, 'amount', made.amount, 'status', made.status), made.created_at);
          created := created || row_to_json(made);
        end loop;
        return array_to_json(created)::text;
      end $$`);
  }
}
