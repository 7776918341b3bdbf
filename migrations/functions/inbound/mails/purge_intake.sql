-- Deletes mails and strangers that ended long ago. Called by housekeeping.
create or replace function purge_intake() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from intake_mails where step = 'ended' and cleaned = 'all' and ended_at < clock_timestamp() - interval '90 days';
  delete from intake_strangers where replied_at < clock_timestamp() - interval '2 days';
$$;
