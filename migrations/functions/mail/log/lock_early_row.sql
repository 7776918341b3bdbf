-- The row that an event made of an attempt before the library wrote it, locked: one that this very entry has completed before, or,
-- of a deferral, the newest that only events wrote of its use of the key. Null where there is none. A step of `record_email_sends`.
create or replace function lock_early_row(e email_log_row) returns email_log
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  r email_log;
begin
  if e.provider_message_id is not null then
    return null;
  end if;
  select * into r from email_log l where l.entry_id = e.id for update;
  if found then
    return r;
  end if;
  if e.outcome = 'deferred' and e.key_tag is not null and not exists (select from email_log l where l.id = e.id) then
    select * into r
    from email_log l
    where l.key_tag = e.key_tag and l.outcome is null and l.outcome is distinct from 'sent'
      and l.provider_message_id is not null
      -- A tag counts as the key's while no earlier use is known: yesterday's mail is not this one.
      -- So compared and ordered, no index of the times serves it, which holds all of the last day: that of the tag does.
      and l.created_at + interval '23 hours 50 minutes' > clock_timestamp()
    order by row(l.created_at, l.id) desc
    limit 1
    for update;
    if found then
      return r;
    end if;
  end if;
  return null;
end
$$;
