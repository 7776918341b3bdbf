-- What is known of a key that no claim binds (a call that found no claim store left only its rows): the provider and the tag of the
-- newest row of the last 24 hours that proves acceptance, else of the newest that leaves it open, and when the first and the last of
-- them were written (rows of the library, and what an event made of the mail of one of these); else what the calling process
-- remembers, `p_known` { provider, tag, ageMs, lastAgeMs, isSettled }. No row where there is neither.
create or replace function find_email_trail(p_key_hash text, p_known jsonb)
returns table (provider text, since timestamptz, last timestamptz, tag text)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  -- Apart, for the same reason.
  with mine as materialized (select l.* from email_log l where l.key_hash = p_key_hash),
  recent as materialized (
    select m.* from mine m where m.created_at > clock_timestamp() - interval '24 hours'
  ),
  left_open as materialized (
    select r.provider, r.created_at, r.id, r.key_tag, r.provider_message_id from recent r
    where r.provider is not null
      and (r.outcome is not null or r.key_tag in (select x.key_tag from recent x where x.outcome is not null))
      and (r.provider_message_id is not null or r.status = 'deferred'
        -- Failed without an attempt: says nothing about acceptance (a call that came a day too late, or could not move its claim).
        or (r.status = 'failed' and r.error_kind = 'ambiguous' and jsonb_array_length(coalesce(r.attempts, '[]')) > 0))
  )
  (
    select o.provider, (select min(x.created_at) from left_open x), (select max(x.created_at) from left_open x), o.key_tag
    from left_open o
    order by o.provider_message_id is not null desc, o.created_at desc, o.id desc
    limit 1
  )
  union all
  select
    p_known ->> 'provider', clock_timestamp() - make_interval(secs => (p_known ->> 'ageMs')::float8 / 1000.0),
    clock_timestamp() - make_interval(secs => (p_known ->> 'lastAgeMs')::float8 / 1000.0),
    p_known ->> 'tag'
  where p_known ->> 'provider' is not null and not exists (select from left_open)
$$;
