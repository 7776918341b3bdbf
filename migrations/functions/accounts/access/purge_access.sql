-- Deletes what has expired: links after a day, those that signed somebody in when their browser's cookie is over, sessions at
-- their end. Called by housekeeping.
create or replace function purge_access() returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from magic_links
  where expires_at < now() - interval '1 day'
    and (used_at is null or browser_hash is null or expires_at < now() - interval '400 days');
  delete from sessions where expires_at < now();
$$;
