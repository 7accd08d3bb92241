/**
 * What a merchant owns in one mode and currency stays between -(2^53-1) and 2^53-1, in each shop
 * and over all of them: a booking that would pass a bound fails with the code PSB01, and nothing of
 * its statement happens. Small bookings share an advisory lock and only look at the folded
 * balances. A booking that is large, or comes while the folded balances are large, stands in line,
 * sums everything that has been committed, and goes into the balance rows at once, so that whoever
 * comes next sees it there.
 */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261122030100_balance_bound extends Migration {
  override up(): void {
    // A volatile function: each of its queries sees what was committed before it began, so also
    // before the lock was given.
    this.addSql(`create function balance_keep_bound() returns trigger language plpgsql as $$
      declare
        bound constant numeric := 9007199254740991;
        nearly constant numeric := 4503599627370496;
        small constant bigint := 134217728;
        whose constant text := new.merchant_id || '/' || new.mode || '/' || new.currency;
      begin
        if new.amount between -small and small then
          perform pg_advisory_xact_lock_shared(hashtextextended('balance/' || whose, 0));
          if (select coalesce(sum(abs(kept.amount)), 0) from balance as kept
              where kept.merchant_id = new.merchant_id and kept.mode = new.mode and kept.currency = new.currency) <= nearly then
            return null;
          end if;
          perform pg_advisory_xact_lock(hashtextextended('balance-nearly/' || whose, 0));
        else
          perform pg_advisory_xact_lock(hashtextextended('balance/' || whose, 0));
        end if;
        if exists (
          select from (
            select kept.shop_id, kept.account, kept.amount from balance as kept
            where kept.merchant_id = new.merchant_id and kept.mode = new.mode and kept.currency = new.currency
            union all
            select fresh.shop_id, fresh.account, fresh.amount from balance_delta as fresh
            where fresh.merchant_id = new.merchant_id and fresh.mode = new.mode and fresh.currency = new.currency
          ) as owned
          group by rollup (owned.shop_id)
          having (new.amount > 0 and sum(owned.amount) > bound)
            or (new.amount < 0 and coalesce(sum(owned.amount) filter (where owned.account = 'merchant'), 0) < -bound)
        ) then
          raise exception 'the balance of the merchant would pass its bound' using errcode = 'PSB01';
        end if;
        delete from balance_delta as own where own.merchant_id = new.merchant_id and own.id = new.id;
        insert into balance as kept (merchant_id, shop_id, mode, currency, account, amount)
          values (new.merchant_id, new.shop_id, new.mode, new.currency, new.account, new.amount)
          on conflict (merchant_id, shop_id, mode, currency, account) do update set amount = kept.amount + excluded.amount;
        return null;
      end; $$`);
    this.addSql(
      `create trigger bound after insert on balance_delta for each row execute function balance_keep_bound()`,
    );
  }
}
