-- Writes how senders' requests go on or end: the request, its row in the log and its claim in one transaction (QUEUE-7); `ordinal` counts the entries from 1.
-- Called by `SendQueue`. Keys of an entry: queue_id, lease, state, due_ms (until the next take), provider (of the next attempt;
-- absent: as before), deferral, defers (an attempt was ambiguous now), tried (while the request continues), attempts (their number), refusals, error, result, frees (the key may be used again), settle
-- (an entry of `settle_email_claims`, where there is no row). `p_rows`: entries of `record_email_sends`, each with the `place` of its request among the entries; a request
-- without one writes none. They are a separate parameter because extracting each one from its entry took as long as writing it. `held` is false where the request has passed to another sender: nothing was written then.
create or replace function end_queued_emails(p_entries jsonb, p_rows jsonb)
returns table (ordinal integer, held boolean, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_held integer[] := lock_queued_emails(p_entries);
  v_now timestamptz := clock_timestamp();
  v_rows jsonb := p_rows;
  v_settled jsonb;
  -- Of the rows: the places of their entries, and what was written, in the same order.
  v_places integer[];
  v_ids uuid[];
  v_statuses text[];
  v_messages text[];
  v_entry jsonb; v_at integer;
  -- Until the commit: a setting of the function ends before it.
  v_setting text := set_config('synchronous_commit', 'on', true);
begin
  if cardinality(v_held) < jsonb_array_length(p_entries) then
    select coalesce(jsonb_agg(x.entry), '[]') into v_rows
    from jsonb_array_elements(p_rows) as x(entry)
    where (x.entry -> 'place')::integer = any (v_held);
  end if;
  if p_entries @? '$[*].settle' then
    select jsonb_agg(x.entry -> 'settle') into v_settled
    from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
    where x.entry ? 'settle' and x.place = any (v_held);
    perform settle_email_claims(coalesce(v_settled, '[]'), '{}');
  end if;
  if v_rows <> '[]' then
    v_places := array(select x.place from jsonb_to_recordset(v_rows) as x(place integer));
    select array_agg(r.send_id), array_agg(r.status), array_agg(r.provider_message_id) into v_ids, v_statuses, v_messages
    from (select x.* from record_email_sends(v_rows) as x order by x.ordinal) as r;
  end if;
  if p_entries @? '$[*] ? (@.state == "queued" || @.state == "deferred")' then
    for v_entry in
      select x.entry from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
      where x.place = any (v_held) and x.entry ->> 'state' in ('queued', 'deferred')
    loop
      perform put_back_queued_email(v_entry);
    end loop;
  end if;
  update email_send_queue q set
    state = x.state, due_at = null, ended_at = v_now, lease = null, deaths = 0, request = null, deferral = null, tried = null,
    provider = coalesce(x.provider, q.provider), attempts = coalesce(x.attempts, q.attempts), refusals = coalesce(x.refusals, q.refusals),
    held_key = case when x.frees then null else q.held_key end,
    error = x.error,
    result = x.result || case when x.send_id is null then '{}' else jsonb_build_object('sendId', x.send_id) end
  from (
    select e.*, v_ids[array_position(v_places, e.place::integer)] as send_id
    from rows from (jsonb_to_recordset(p_entries) as (
      queue_id uuid, state text, provider text, attempts integer, refusals integer, frees boolean, error text, result jsonb
    )) with ordinality as e(queue_id, state, provider, attempts, refusals, frees, error, result, place)
    where e.place = any (v_held) and e.state not in ('queued', 'deferred')
  ) as x
  where q.id = x.queue_id;
  for v_place in 1 .. jsonb_array_length(p_entries) loop
    v_at := array_position(v_places, v_place);
    ordinal := v_place; held := v_place = any (v_held);
    send_id := v_ids[v_at]; status := v_statuses[v_at]; provider_message_id := v_messages[v_at];
    return next;
  end loop;
end
$$;
