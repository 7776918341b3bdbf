-- Writes ends of attempts for the hooks, by the ids of their rows and their outcomes. Events that came before the row get its data, go
-- after it, and wait no longer. The last step of `record_email_sends`, because of the locks that it takes.
create or replace function tell_hooks_of_sends(p_ids uuid[], p_outcomes text[]) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_rows email_log[];
  v_now timestamptz := clock_timestamp();
begin
  v_rows := array(select l from email_log l where l.id = any (p_ids));
  perform lock_hook_subjects(array(select hook_subject_of_mail(l) from unnest(v_rows) as l));
  -- The provider's word for this acceptance.
  delete from event_hook_deliveries d
  where d.early_send_id = any (p_ids) and d.state = 'pending' and d.tries = 0 and d.type = 'email.sent';
  -- Before the end is written, which becomes due with what is ahead of it in its subject.
  update event_hook_deliveries d set wait_until = null, next_at = v_now
  where d.early_send_id = any (p_ids) and d.state = 'pending' and d.tries = 0;
  perform write_hook_deliveries(array(
    select row(
      'email.' || x.outcome, hook_subject_of_mail(l), v_now, hook_data_of_mail(l, v_now, null), null, null
    )::hook_event
    from unnest(p_ids, p_outcomes) as x(id, outcome)
    join unnest(v_rows) as l on l.id = x.id
  ));
  update event_hook_deliveries d set subject = hook_subject_of_mail(l)
  from unnest(v_rows) as l
  where d.early_send_id = any (p_ids) and d.early_send_id = l.id and d.state = 'pending';
  update event_hook_deliveries d set
    early_send_id = null, sequence = x.sequence, body = x.body
  from (
    select y.id, nextval('event_hook_sequence') as sequence, y.body
    from (
      select e.id, json_build_object(
        'type', e.type, 'timestamp', e.body::json -> 'timestamp',
        'data', (e.body::jsonb -> 'data') || (hook_data_of_mail(l, v_now, null) - array['status', 'reason', 'occurredAt'])
      )::text as body
      from event_hook_deliveries e join unnest(v_rows) as l on l.id = e.early_send_id
      where e.early_send_id = any (p_ids) and e.state = 'pending' and e.tries = 0
      order by e.sequence
    ) as y
  ) as x
  where d.early_send_id = any (p_ids) and d.id = x.id;
end
$$;
