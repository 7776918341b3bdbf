-- Writes how senders' requests go on or end: the request, its row in the log and its claim in one transaction (QUEUE-7); `ordinal` counts the entries from 1.
-- Called by `SendQueue`. Keys of an entry: queue_id, lease, state, due_ms (until the next take), provider (of the next attempt;
-- absent: as before), deferral, defers (an attempt was ambiguous now), unasked (it ends, and no provider could be asked: it has no row), tried (while the request continues), attempts (their number), refusals, error, result, frees (the key may be used again), settle
-- (an entry of `settle_email_claims`, where there is no row). `p_rows`: entries of `record_email_sends`, each with the `place` of its request among the entries; a request
-- without one writes none. They are a separate parameter because extracting each one from its entry took as long as writing it. `held` is false where the request has passed to another sender: nothing was written then. Where none of them goes on, their
-- update is the first to lock them, in the order of `lock_queued_emails`.
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
  v_now timestamptz := clock_timestamp();
  v_go_on boolean := p_entries @? '$[*] ? (@.state == "queued" || @.state == "deferred" || @.unasked == true)';
  v_held integer[] := case when v_go_on then lock_queued_emails(p_entries) end;
  v_ended integer[];
  v_rows jsonb := p_rows; v_settled jsonb;
  -- Of the rows: the places of their entries, the ids that they asked for, and what was written, in the same order.
  v_places integer[]; v_asked uuid[]; v_ids uuid[]; v_statuses text[]; v_messages text[];
  v_at integer;
  -- Until the commit: a setting of the function ends before it.
  v_setting text := set_config('synchronous_commit', 'on', true);
begin
  with e as materialized (
    select x.* from rows from (jsonb_to_recordset(p_entries) as (
      queue_id uuid, lease uuid, state text, provider text, attempts integer, refusals integer, frees boolean, error text, result jsonb, unasked boolean
    )) with ordinality as x(queue_id, lease, state, provider, attempts, refusals, frees, error, result, unasked, place)
    where x.state not in ('queued', 'deferred') and x.unasked is not true order by x.queue_id
  ), ended as (
    update email_send_queue q set
      state = e.state, due_at = null, ended_at = v_now, lease = null, deaths = 0, request = null, deferral = null, tried = null,
      provider = coalesce(e.provider, q.provider), attempts = coalesce(e.attempts, q.attempts), refusals = coalesce(e.refusals, q.refusals),
      held_key = case when e.frees then null else q.held_key end, error = e.error, result = e.result
    from e where q.id = e.queue_id and q.lease = e.lease
    returning e.place
  )
  select coalesce(array_agg(d.place), '{}') into v_ended from ended d;
  v_held := coalesce(v_held, v_ended);
  if cardinality(v_held) < jsonb_array_length(p_entries) then
    perform lock_queued_emails(p_entries);
    select coalesce(jsonb_agg(x.entry), '[]') into v_rows
    from jsonb_array_elements(p_rows) as x(entry) where (x.entry -> 'place')::integer = any (v_held);
  end if;
  if p_entries @? '$[*].settle' then
    select jsonb_agg(x.entry -> 'settle') into v_settled
    from jsonb_array_elements(p_entries) with ordinality as x(entry, place) where x.entry ? 'settle' and x.place = any (v_held);
    perform settle_email_claims(coalesce(v_settled, '[]'), '{}');
  end if;
  if v_rows <> '[]' then
    select array_agg(x.place), array_agg(x.id) into v_places, v_asked from jsonb_to_recordset(v_rows) as x(place integer, id uuid);
    select array_agg(r.send_id), array_agg(r.status), array_agg(r.provider_message_id) into v_ids, v_statuses, v_messages
    from (select x.* from record_email_sends(v_rows) as x order by x.ordinal) as r;
    if v_ids <> v_asked then
      update email_send_queue q set result = q.result || jsonb_build_object('sendId', x.send_id)
      from unnest(v_places, v_asked, v_ids) as x(place, asked, send_id)
      where q.id = (p_entries -> (x.place - 1) ->> 'queue_id')::uuid and x.send_id <> x.asked;
    end if;
  end if;
  if v_go_on then
    perform put_back_queued_email(x.entry)
    from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
    where x.place = any (v_held) and (x.entry ->> 'state' in ('queued', 'deferred') or x.entry -> 'unasked' = 'true');
  end if;
  for v_place in 1 .. jsonb_array_length(p_entries) loop
    v_at := array_position(v_places, v_place);
    ordinal := v_place; held := v_place = any (v_held);
    send_id := v_ids[v_at]; status := v_statuses[v_at]; provider_message_id := v_messages[v_at];
    return next;
  end loop;
end
$$;
