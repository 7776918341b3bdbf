-- `begin_email_sends` for requests of the queue: in the transaction that claims a key, its request is still the caller's. Entries have queue_id and lease,
-- too; an entry is answered `InProgress` after its request has passed on. Called by `SendQueue`. Lock order: requests by id, then that of `begin_email_sends`.
create or replace function begin_queued_emails(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, late boolean, torn boolean, first_attempt_at float8, last_attempt_at float8, tag text, result jsonb,
  evidence jsonb, leaving boolean, suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_held integer[] := lock_queued_emails(p_entries);
  v_entries jsonb := p_entries;
  -- Until the commit: a setting of the function ends before it.
  v_setting text := set_config('synchronous_commit', 'on', true);
begin
  if cardinality(v_held) < jsonb_array_length(p_entries) then
    select jsonb_agg(p_entries -> (h.place - 1) order by h.place) into v_entries from unnest(v_held) as h(place);
    return query
    select x.place, 'InProgress', null::text, false, false, false, 0::float8, 0::float8, null::text, null::jsonb, null::jsonb, false, '[]'::jsonb
    from generate_series(1, jsonb_array_length(p_entries)) as x(place)
    where x.place <> all (v_held);
  end if;
  if v_entries is not null then
    return query
    select v_held[b.ordinal], b.decision, b.sticky, b.takeover, b.late, b.torn, b.first_attempt_at, b.last_attempt_at, b.tag, b.result, b.evidence,
      b.leaving, b.suppressions
    from begin_email_sends(v_entries) as b;
  end if;
end
$$;
