-- Queues a reply; a mail has one of each kind.
create or replace function queue_reply(p_mail_id uuid, p_recipient text, p_content jsonb) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  insert into intake_replies (mail_id, kind, recipient, content)
  values (p_mail_id, p_content ->> 'kind', p_recipient, p_content)
  on conflict (mail_id, kind) do nothing
$$;
