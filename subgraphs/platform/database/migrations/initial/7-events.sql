-- Events, those who consume them, and webhooks. What belongs to an event is partitioned by its
-- month, so that old months are dropped and not deleted row by row.

-- Numbers the events of the stream. The relay draws a number when the events before are committed.
create sequence event_sequence_seq;

-- Something that happened. The rows without a sequence are the outbox. `webhook_body` has the
-- frozen bytes of the webhook; it is null where there is none.
create table event (
  merchant_id uuid not null,
  id uuid not null,
  position bigserial not null,
  sequence bigint,
  shop_id uuid not null,
  mode text not null,
  subject_id uuid not null,
  stream_kind text,
  payload jsonb,
  webhook_event text,
  webhook_body text,
  webhook_url text,
  created_at timestamptz(3) not null,
  follower text,
  primary key (merchant_id, id, created_at)
) partition by range (created_at);
create index event_outbox on event (position) where sequence is null;
create index event_sequence on event (sequence) where sequence is not null;
create index event_followed on event (follower, sequence) where follower is not null;
create index event_log on event (merchant_id, shop_id, mode, sequence)
  include (created_at, webhook_event, subject_id)
  where webhook_event is not null and sequence is not null;
create table partitions.event_default partition of event default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index event_default_age on partitions.event_default (created_at);

-- How far a consumer has come in the event log. It moves in the transaction of the effects.
create table consumer_offset (
  consumer text not null,
  sequence bigint not null,
  primary key (consumer)
);
insert into consumer_offset (consumer, sequence) values ('recurring', 0), ('totals', 0);

-- An event whose effects failed, until they succeed.
create table consumer_retry (
  merchant_id uuid not null,
  consumer text not null,
  sequence bigint not null,
  subject_id uuid not null,
  tries int not null,
  due_at timestamptz(3) not null,
  primary key (merchant_id, consumer, sequence)
);
create index consumer_retry_due on consumer_retry (consumer, due_at);

-- Something of a merchant at which a background task failed: the task leaves it alone until it is
-- due.
create table dead_letter (
  merchant_id uuid not null,
  task text not null,
  subject_id text not null,
  tries int not null,
  due_at timestamptz(3) not null,
  primary key (merchant_id, task, subject_id)
);
create index dead_letter_age on dead_letter (due_at);

-- An address to which a shop has its webhooks sent. No events means all events.
create table webhook_endpoint (
  merchant_id uuid not null,
  id uuid not null,
  shop_id uuid not null,
  url text not null,
  events text[] not null,
  secret_sealed text not null,
  signature text not null,
  active boolean not null,
  created_at timestamptz(3) not null,
  previous_secret_sealed text,
  previous_until timestamptz(3),
  primary key (merchant_id, id)
);
create index webhook_endpoint_shop on webhook_endpoint (merchant_id, shop_id, created_at);

-- An event on its way to one address. `lane` is what is isolated from the others: the endpoint, or
-- the origin of an address of a payment. `created_at` is that of the event. `next_attempt_at` is on
-- the clock that the shop lives by. `due_at` is when it may be claimed, in real time; it is null
-- while a retry waits for the shop's test clock to reach `next_attempt_at`.
create table webhook_delivery (
  merchant_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  webhook_event text not null,
  shop_id uuid not null,
  mode text not null,
  subject_id uuid not null,
  endpoint_id uuid,
  lane text not null,
  url text not null,
  status text not null,
  attempts int not null,
  next_attempt_at timestamptz(3),
  due_at timestamptz(3),
  lease_until timestamptz(3),
  delivered_at timestamptz(3),
  created_at timestamptz(3) not null,
  attempts_before int not null default 0,
  primary key (merchant_id, id, created_at),
  constraint webhook_delivery_once unique (merchant_id, event_id, lane, created_at)
) partition by range (created_at);
create index webhook_delivery_due on webhook_delivery (lane, due_at) where status = 'pending';
create index webhook_delivery_clocked on webhook_delivery (merchant_id, shop_id, next_attempt_at)
  where status = 'pending' and due_at is null;
create index webhook_delivery_leased on webhook_delivery (lane) where lease_until is not null;
create index webhook_delivery_subject on webhook_delivery (merchant_id, subject_id, created_at);
-- Deliveries that fail at present or failed: a healthy one never enters it.
create index webhook_delivery_tried on webhook_delivery (merchant_id, endpoint_id, created_at)
  where status <> 'delivered' and attempts > 0;
create index webhook_delivery_list on webhook_delivery (merchant_id, created_at, id);
create index webhook_delivery_failed on webhook_delivery (merchant_id, created_at, id)
  where status = 'failed';
create index webhook_delivery_newest on webhook_delivery (mode, created_at, id)
  where status = 'failed';
create index webhook_delivery_by_lane on webhook_delivery (mode, merchant_id, shop_id, lane, created_at)
  where status = 'failed';
create table partitions.webhook_delivery_default partition of webhook_delivery default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index webhook_delivery_default_age on partitions.webhook_delivery_default (created_at);

-- An attempt of a delivery. Nothing changes it. `created_at` is that of its delivery.
create table webhook_attempt (
  merchant_id uuid not null,
  delivery_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  duration_ms int not null,
  status int,
  error text,
  fault text,
  response_head text,
  created_at timestamptz(3) not null,
  primary key (merchant_id, delivery_id, number, created_at)
) partition by range (created_at);
create table partitions.webhook_attempt_default partition of webhook_attempt default
  with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index webhook_attempt_default_age on partitions.webhook_attempt_default (created_at);

-- Returns the lanes that have a delivery which is due by a moment and not leased. It steps from lane
-- to lane along the index: a lane with a million due rows costs as much as one with a single row.
-- Citus cannot run such a walk over shards as a query, but it runs the function. The settings leave
-- nothing but the index: statistics that were taken while nothing was due promise that a sort costs
-- nothing, and those of a backlog expect a due row on each page of the table.
create function webhook_lanes_due(moment timestamptz, most int) returns table (merchant_id uuid, lane text) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
  found_lanes int := 0;
begin
  lane := '';
  loop
    select delivery.merchant_id, delivery.lane into merchant_id, lane from webhook_delivery as delivery
      where delivery.status = 'pending' and delivery.lane > webhook_lanes_due.lane order by delivery.lane limit 1;
    exit when not found;
    if exists (
      select 1 from webhook_delivery as delivery
      where delivery.lane = webhook_lanes_due.lane and delivery.status = 'pending' and delivery.due_at <= moment
        and (delivery.lease_until is null or delivery.lease_until <= clock_timestamp())
        and coalesce((select max(dead_letter.due_at) <= now() from dead_letter where dead_letter.merchant_id = delivery.merchant_id
          and dead_letter.task = 'deliver-webhooks' and dead_letter.subject_id in (delivery.id::text, '*')), true))
    then
      return next;
      found_lanes := found_lanes + 1;
      exit when found_lanes = most;
    end if;
  end loop;
end
$$;
