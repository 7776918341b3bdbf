-- `cancel_email`, which leaves an audit row where it changed something and an admin did it (QUEUE-8); `p_actor`: null for a caller. Called by `SendQueue`.
create or replace function cancel_queued_email(p_queue_id uuid, p_actor text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_before text;
  v_state text;
begin
  select q.state into v_before from email_send_queue q where q.id = p_queue_id for update;
  v_state := cancel_email(p_queue_id);
  if v_state = 'cancelled' and v_before <> 'cancelled' and p_actor is not null then
    insert into admin_audit_log (action, actor, target) values ('email_queue_cancel', p_actor, p_queue_id::text);
  end if;
  return v_state;
end
$$;
