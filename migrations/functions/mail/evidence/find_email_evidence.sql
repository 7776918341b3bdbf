-- Evidence that a provider accepted an attempt of one use of a key (MAIL-52): the result in its claim, since callers already received it; else the
-- newest row that the library wrote `sent`, since its caller has that answer; else the newest with a message id that carries the tag of that use, or that the library wrote for the key since the use's first attempt, or
-- that an event made of such a row's mail. A key that is used again has a new claim: what is older, or carries the tag of another use or
-- installation, proves nothing about it. Called by `MailStore`, and by `begin_email_sends` and `begin_email_retry`. A send that
-- found no claim store has a separate tag, and so has no claim here. `p_first` is its first attempt by its process's clock, where
-- it has no row yet. Two uses of a key are 24 hours apart at least, whatever claims bind them: the rows of the 24 hours around
-- belong to the same one (less ten minutes, for clocks that differ).
create or replace function find_email_evidence(p_key_hash text, p_tag text, p_first timestamptz default null)
returns table (provider text, provider_message_id text)
language sql
stable
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
  -- Each apart, so that the index of the key or of the tag serves it and no other one does, whatever the statistics say.
  with mine as materialized (
    select l.id, l.provider, l.provider_message_id, l.created_at, l.outcome, l.key_tag
    from email_log l where l.key_hash = p_key_hash
  ), tagged as materialized (
    select l.id, l.provider, l.provider_message_id, l.created_at
    from email_log l
    where l.key_tag = p_tag and l.outcome is distinct from 'sent' and l.key_hash is null
  ), bound as materialized (
    select c.* from email_send_claims c where c.key_hash = p_key_hash
  ), use as (
    select
      coalesce(c.at, own.at - interval '23 hours 50 minutes') as since,
      case when c.at is null then own.at + interval '23 hours 50 minutes' else 'infinity' end as until,
      coalesce(c.at, own.at) - interval '23 hours 50 minutes' as tag_since
    from (
      -- A later use without a claim carries the first one's tag.
      select coalesce((select p_first - b.last_attempt_at >= interval '24 hours' from bound b), false) as is_over
    ) as v
    cross join (
      select coalesce(
        (
          select min(m.created_at) from mine m
          where m.outcome is not null and m.key_tag is not distinct from p_tag
            and m.created_at > coalesce(p_first - interval '23 hours 50 minutes', '-infinity')
        ), p_first) as at
    ) as own
    left join (select b.first_attempt_at as at from bound b where b.tag is not distinct from p_tag) as c on not v.is_over
  ), claim as (
    select b.* from bound b, use u where b.first_attempt_at >= u.since and b.first_attempt_at < u.until
  ), written as (
    select m.id, m.key_tag from mine m, use u where m.outcome is not null and m.created_at >= u.since and m.created_at < u.until
  ), proof as (
    select m.id, m.provider, m.provider_message_id, m.created_at, coalesce(m.outcome = 'sent', false) as is_told
    from mine m, use u
    where m.id in (select w.id from written w)
      or (
        m.created_at >= u.tag_since
        and (m.key_tag = p_tag or m.key_tag in (select w.key_tag from written w union all select c.tag from claim c))
      )
    union all
    select t.id, t.provider, t.provider_message_id, t.created_at, false from tagged t, use u
    where t.created_at >= u.tag_since
  )
  select x.provider, x.provider_message_id
  from (
    select
      c.result ->> 'provider' as provider, c.result ->> 'providerMessageId' as provider_message_id,
      null::timestamptz as created_at, null::uuid as id, true as is_told
    from claim c where c.state = 'accepted'
    union all
    select p.provider, p.provider_message_id, p.created_at, p.id, p.is_told from proof p
  ) as x
  where x.provider is not null and x.provider_message_id is not null
  order by x.is_told desc, x.created_at desc nulls first, x.id desc
  limit 1
$$;
