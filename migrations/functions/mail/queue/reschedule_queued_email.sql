-- Moves a mail that waits in the queue to another time, and returns its state: `queued` means that it was moved, anything else that nothing was changed.
-- Null for an unknown id. A time that no request may have is refused as `queue_email` refuses it (22023). Called by `SendQueue`.
create or replace function reschedule_queued_email(p_queue_id uuid, p_send_at text) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  q email_send_queue;
  v_fault text;
  v_at timestamptz;
begin
  select * into q from email_send_queue x where x.id = p_queue_id for update;
  if not found or q.state <> 'queued' then
    return q.state;
  end if;
  q.request := q.request || jsonb_build_object('sendAt', p_send_at);
  v_fault := queued_request_fault(q.request);
  if v_fault is not null then
    raise exception using errcode = '22023', message = v_fault;
  end if;
  v_at := greatest(clock_timestamp(), queued_moment(p_send_at));
  update email_send_queue x set send_at = v_at, due_at = v_at, request = q.request where x.id = q.id;
  return q.state;
end
$$;
