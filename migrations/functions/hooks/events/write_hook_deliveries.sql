-- Writes events for every hook that asks for them, in their order. For a hook that switched itself off they are `dead` at once; for one
-- that a person or the settings switched off nothing is written. An event behind another of its subject gets the same due time:
-- `claim_event_hook_deliveries` skips it until then, and so reads it less often. Behind one that is being sent it is due in a second:
-- the receipt may be noted before this transaction commits, and then moves nothing here. The setting: rows are found by the indexes, whatever
-- the statistics say. The condition on the subject is a `between`, ordered as in the subject's own index: only that index matches.
-- With `=` any index that begins with the hook seems as cheap while there are few rows, and later each event reads all that wait for the hook.
create or replace function write_hook_deliveries(p_events hook_event[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  insert into event_hook_deliveries (
    hook_id, message_id, type, subject, body, early_send_id, wait_until, state, next_at, ended_at, error, created_at
  )
  select
    h.id, e.message_id, e.type, e.subject,
    json_build_object('type', e.type, 'timestamp', hook_time(e.occurred_at), 'data', e.data),
    e.early_send_id, e.wait_until,
    case when h.off_by is null then 'pending' else 'dead' end,
    case when h.off_by is null then greatest(v_now, e.wait_until, (
      select max(x.next_at) from (
        select case when d.lease is null then d.next_at else v_now + interval '1 second' end as next_at from event_hook_deliveries d
        where d.hook_id = h.id and d.subject between e.subject and e.subject and d.state = 'pending' and not d.again
        order by d.subject, d.sequence
        offset 0
      ) as x
    )) end,
    case when h.off_by is not null then v_now end,
    case when h.off_by is not null then 'the hook was switched off' end,
    v_now
  from (
    select x.*, 'msg_' || replace(gen_random_uuid()::text, '-', '') as message_id
    from unnest(p_events) with ordinality as x(type, subject, occurred_at, data, early_send_id, wait_until, place)
  ) as e
  join event_hooks h on coalesce(h.off_by, 'itself') = 'itself' and hook_wants(h.types, e.type)
  order by e.place, h.id;
end
$$;
