/** Receipts of 54-FZ, and what they are made of; one more kind of alerts. */
import { Migration } from '@mikro-orm/migrations';

export class Migration20261123172000_receipts extends Migration {
  override up(): void {
    this.#terms();
    this.#receipts();
    this.addSql(
      'alter table payment add column receipt_terms_id uuid, add column capture_terms_id uuid',
    );
    this.addSql('alter table refund add column receipt_terms_id uuid');
    this.addSql('alter table alert drop constraint alert_kind');
    this.addSql(`alter table alert add constraint alert_kind check (kind = any (array['late_success', 'link_exhausted', 'books_differ', 'reconciliation_difference',
      'event_without_delivery', 'bank_answer_contradicts', 'bank_echo_differs', 'balance_at_bound', 'work_set_aside', 'receipt_failed'])) not valid`);
  }

  #terms(): void {
    this.addSql(`create table receipt_terms (
      merchant_id uuid not null,
      subject_id uuid not null,
      shop_id uuid not null,
      mode text not null,
      payment_id uuid null,
      tax_system int null,
      items json not null,
      customer_sealed text null,
      customer_shown json null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, subject_id))`);
    this.addSql(
      'create index receipt_terms_payment on receipt_terms (merchant_id, payment_id) where payment_id is not null',
    );
  }

  #receipts(): void {
    this.addSql(`create table receipt (
      merchant_id uuid not null,
      id uuid not null,
      version int not null,
      shop_id uuid not null,
      mode text not null,
      payment_id uuid not null,
      refund_id uuid null,
      type text not null,
      status text not null,
      amount bigint not null,
      currency text not null,
      terms_id uuid not null,
      tax_system int null,
      items json not null,
      customer_shown json null,
      fiscal_storage_number text null,
      fiscal_document_number text null,
      fiscal_attribute text null,
      registered_at timestamptz(3) null,
      failure_reason text null,
      attempt int not null,
      ask_at timestamptz(3) null,
      created_at timestamptz(3) not null,
      primary key (merchant_id, id),
      constraint receipt_amount check (amount >= 0 and amount <= 9007199254740991),
      constraint receipt_type check (type = any (array['payment'::text, 'refund'::text, 'closing'::text])),
      constraint receipt_refund check ((type = 'refund'::text) = (refund_id is not null)),
      constraint receipt_status check (status = any (array['pending'::text, 'registered'::text, 'failed'::text])),
      constraint receipt_registered check ((status = 'registered'::text) = (registered_at is not null) and (status = 'failed'::text) = (failure_reason is not null)),
      constraint receipt_ask check (ask_at is null or status = 'pending'::text))`);
    for (const index of [
      'index receipt_registry on receipt (merchant_id, shop_id, mode, created_at, id)',
      'index receipt_filter on receipt (merchant_id, shop_id, mode, status, created_at, id)',
      'index receipt_payment on receipt (merchant_id, payment_id, created_at, id)',
      'index receipt_ask_due on receipt (ask_at) where ask_at is not null',
      'index receipt_due_of_merchant on receipt (merchant_id, ask_at) where ask_at is not null',
      'unique index receipt_of_payment on receipt (merchant_id, payment_id, type) where refund_id is null',
      'unique index receipt_of_refund on receipt (merchant_id, refund_id) where refund_id is not null',
    ])
      this.addSql(`create ${index}`);
  }
}
