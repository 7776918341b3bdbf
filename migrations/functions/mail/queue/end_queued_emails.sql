-- Writes how senders' requests go on or end: the request, its row in the log and its claim in one transaction (QUEUE-7); `ordinal` counts the entries from 1.
-- Called by `SendQueue`. Keys of an entry: queue_id, lease, state, due_ms (until the next take), provider (of the next attempt;
-- absent: as before), deferral, tried, refusals, error, result, frees (the key is free again), row (an entry of `record_email_sends`; absent: none is written), settle
-- (an entry of `settle_email_claims`, where there is no row). `held` is false where the request has passed to another sender: nothing was written then.
create or replace function end_queued_emails(p_entries jsonb)
returns table (ordinal integer, held boolean, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set synchronous_commit = on
as $$
#variable_conflict use_column
declare
  v_held jsonb;
  v_rows jsonb;
  v_settled jsonb;
  e record;
begin
  perform lock_queued_emails(p_entries);
  select coalesce(jsonb_agg(x.entry || jsonb_build_object('place', x.place) order by x.place), '[]') into v_held
  from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
  join email_send_queue q on q.id = (x.entry ->> 'queue_id')::uuid and q.lease = (x.entry ->> 'lease')::uuid;
  select jsonb_agg(h.entry -> 'row' order by h.place) filter (where jsonb_typeof(h.entry -> 'row') = 'object'),
    jsonb_agg(h.entry -> 'settle' order by h.place) filter (where jsonb_typeof(h.entry -> 'settle') = 'object')
  into v_rows, v_settled
  from jsonb_array_elements(v_held) with ordinality as h(entry, place);
  if v_settled is not null then
    perform settle_email_claims(v_settled, '{}');
  end if;
  for e in
    select h.entry, (h.entry ->> 'place')::integer as place, r.send_id, r.status, r.provider_message_id
    from (
      select x.entry, case when jsonb_typeof(x.entry -> 'row') = 'object'
        then count(*) filter (where jsonb_typeof(x.entry -> 'row') = 'object') over (order by x.place) end as written
      from jsonb_array_elements(v_held) with ordinality as x(entry, place)
    ) as h
    left join record_email_sends(coalesce(v_rows, '[]')) as r on r.ordinal = h.written
  loop
    perform write_queued_email(e.entry, e.send_id);
    ordinal := e.place;
    held := true;
    send_id := e.send_id;
    status := e.status;
    provider_message_id := e.provider_message_id;
    return next;
  end loop;
  return query
  select x.place::integer, false, null::uuid, null::text, null::text
  from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
  where not exists (select from jsonb_array_elements(v_held) as h where (h ->> 'place')::bigint = x.place);
end
$$;
