-- Notes such sends, for the alarm about them, and forgets those of earlier days. Called by `MailStore`.
create or replace function note_unclaimed_email_sends(p_count integer) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from email_unclaimed_sends where noted_at < now() - interval '1 day';
  insert into email_unclaimed_sends (count) values (p_count)
$$;
