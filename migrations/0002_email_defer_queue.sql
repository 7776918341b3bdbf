-- The delayed retry queue where there is no SQS: what Effect's PersistedQueue (effect 4.1.0) makes for the table name
-- `email_defer_queue`, with its two migrations marked as applied, so that at run time its own migrator finds nothing to
-- do and the service role needs no right to create tables. Its times are without a zone: sessions run in UTC.

create table email_defer_queue (
  sequence bigserial primary key,
  id varchar(255) not null,
  queue_name varchar(255) not null,
  element text not null,
  attempts integer not null default 0,
  last_failure text,
  acquired_at timestamp,
  acquired_by uuid,
  created_at timestamp not null,
  updated_at timestamp not null,
  state varchar(10) not null,
  visible_at timestamp not null
);

create unique index idx_email_defer_queue_id on email_defer_queue (id, queue_name);
create index idx_email_defer_queue_update on email_defer_queue (sequence, acquired_by);
create index idx_email_defer_queue_take on email_defer_queue (queue_name, visible_at) where state = 'pending';

create table email_defer_queue_migrations (
  migration_id integer primary key,
  created_at timestamptz not null default now(),
  name text not null
);

insert into email_defer_queue_migrations (migration_id, name) values (1, 'create_table'), (2, 'upgrade_schema');

select secure_table('email_defer_queue');
select secure_table('email_defer_queue_migrations');

do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant all on sequence email_defer_queue_sequence_seq to service_role;
  end if;
end
$$;
