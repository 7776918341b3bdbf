-- Mails that have ended, have no reply left to send, and still have objects. `everything`: the result may go, too. It was attached,
-- the time of its link is over, or its reply failed.
create or replace function mails_to_clean(p_limit integer, p_link_lives interval, p_home text) returns table (id uuid, everything boolean)
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  select m.id, w.everything
  from intake_mails m
  cross join lateral (
    select m.result_key is null or not exists (
      select from intake_replies r
      where r.mail_id = m.id and r.kind = 'success' and (
        (r.as_link and m.ended_at >= clock_timestamp() - p_link_lives)
        or (r.status = 'failed' and r.ended_at >= clock_timestamp() - p_link_lives))
    ) as everything
  ) w
  where m.step = 'ended' and m.cleaned is distinct from 'all' and (m.cleaned is null or w.everything)
    and (m.home is null or m.home = p_home)
    -- Not `= 'queued'`: the index of all that is queued would be read for each mail.
    and not exists (select from intake_replies r where r.mail_id = m.id and r.status not in ('sent', 'failed'))
  order by m.ended_at
  limit p_limit
$$;
