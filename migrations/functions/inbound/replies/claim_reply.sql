-- Claims the reply that has waited longest, for `p_for`; not before the replies of its mail that were queued before it have
-- ended.
create or replace function claim_reply(p_lease uuid, p_for interval, p_home text)
returns table (
  id uuid, mail_id uuid, recipient text, content jsonb, as_link boolean, attempts integer, unknowns integer,
  created_at timestamptz, message_id text, thread_references text, subject text, filename text, result_key text,
  result_bytes bigint
)
language sql
set search_path = pg_catalog, public, pg_temp
set enable_bitmapscan = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  with n as materialized (
    select x.id from intake_replies x
    where x.status = 'queued' and x.not_before <= (select clock_timestamp())
      and exists (select from intake_mails m where m.id = x.mail_id and (m.home is null or m.home = p_home))
      -- Not `= 'queued'`: the index of all that is queued would be read for each reply.
      and not exists (
        select from intake_replies e where e.mail_id = x.mail_id and e.status not in ('sent', 'failed') and e.created_at < x.created_at
      )
    order by x.not_before
    limit 1
    for no key update skip locked
  )
  update intake_replies r set lease = p_lease, attempts = r.attempts + 1, not_before = clock_timestamp() + p_for
  from n, intake_mails m
  where r.id = n.id and m.id = r.mail_id
  returning r.id, r.mail_id, r.recipient, r.content, r.as_link, r.attempts, r.unknowns,
    r.created_at, m.message_id, m.thread_references, m.subject,
    m.filename, m.result_key, m.result_bytes
$$;
