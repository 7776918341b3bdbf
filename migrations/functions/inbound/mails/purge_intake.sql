-- Deletes mails and strangers that ended long ago, but for a mail that somebody has locked: an erasure may wait for several of them. Called
-- by housekeeping.
create or replace function purge_intake() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from intake_mails where id in (
    select id from intake_mails where cleaned = 'all' and ended_at < (select clock_timestamp()) - interval '90 days' for update skip locked
  );
  delete from intake_strangers where replied_at < clock_timestamp() - interval '2 days';
$$;
