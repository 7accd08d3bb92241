/** The operator's policies, routes to banks, and the ways to search payments. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261121122000_policies extends Migration {
  override up(): void {
    this.addSql(`create table policy_version (
      name text not null,
      version bigint not null,
      primary key (name))`);
    this.addSql(`insert into policy_version (name, version) values ('policies', 1)`);
    this.addSql(`create table block_entry (
      id uuid not null,
      merchant_id uuid,
      kind text not null,
      value text not null,
      shown text not null,
      reason text not null,
      created_at timestamptz(3) not null,
      primary key (id))`);
    this.addSql(`create table forbidden_word (
      id uuid not null,
      word text not null,
      reason text not null,
      created_at timestamptz(3) not null,
      primary key (id))`);
    this.addSql(`alter table forbidden_word add constraint forbidden_word_once unique (word)`);
    this.addSql(`create table exchange_rate (
      id uuid not null,
      currency text not null,
      usdt numeric(21,12) not null,
      since timestamptz(3) not null,
      primary key (id))`);
    this.addSql(
      `alter table exchange_rate add constraint exchange_rate_moment unique (currency, since)`,
    );
    this.addSql(`create table bank_route (
      merchant_id uuid not null,
      id uuid not null,
      shop_id uuid not null,
      mode text not null,
      operation text not null,
      method text not null,
      connector text not null,
      priority int not null,
      active boolean not null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id))`);
    this.addSql(
      `alter table bank_route add constraint bank_route_once unique (merchant_id, shop_id, mode, operation, method, connector)`,
    );

    // Which bank has a payment's session: it is asked there, whatever the routes say by then.
    this.addSql('alter table payment add column connector text');
    this.addSql(
      `update payment set connector = 'simulator' where bank_name is not null and mode = 'test'`,
    );

    this.addSql('create index payment_public on payment (public_id)');
    this.addSql('create index payment_order on payment (merchant_id, order_id)');
    this.addSql(
      'create index payment_customer on payment (merchant_id, customer_id) where customer_id is not null',
    );
    this.addSql('create index payment_rrn on payment (merchant_id, rrn) where rrn is not null');
  }
}
