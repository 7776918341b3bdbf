-- Cancels a request that waits, in the caller's transaction, and returns its state: `cancelled` means that it was not and will not be sent by the queue
-- (QUEUE-6). Null for an unknown id. A request is not cancelled while a direct send has its key under way, in doubt or settled.
-- Runs with the rights of its owner, as `enqueue_email`.
create or replace function cancel_email(p_queue_id uuid) returns text
language plpgsql
security definer
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  q email_send_queue;
  v_is_in_hand boolean;
begin
  -- Written, not only locked, before the key is looked at: who queues the same key meanwhile waits for the end of this. Else a direct send could
  -- claim the key in between, and a request that is queued after that would be this one.
  update email_send_queue x set state = x.state where x.id = p_queue_id and x.state = 'queued' returning * into q;
  if not found then
    return (select x.state from email_send_queue x where x.id = p_queue_id);
  end if;
  begin
    perform from email_send_claims c
    where c.key_hash = q.key_hash and clock_timestamp() - c.last_attempt_at < interval '24 hours' and (
      c.state in ('accepted', 'deferred') or c.ambiguous or (c.state = 'held' and (c.leaving or c.lease_until > clock_timestamp())))
    for share;
    v_is_in_hand := found;
    if v_is_in_hand then
      -- Lets go of the claim: while the caller's transaction is open, the send could not write its end.
      raise sqlstate 'PL001';
    end if;
  exception when sqlstate 'PL001' then null;
  end;
  if v_is_in_hand then
    -- It takes the end that its key has.
    update email_send_queue x set due_at = least(x.due_at, clock_timestamp()) where x.id = q.id;
    return q.state;
  end if;
  perform tell_hooks_of_request(q, 'cancelled');
  update email_send_queue x set
    state = 'cancelled', due_at = null, ended_at = clock_timestamp(), held_key = null, request = null, tried = null
  where x.id = q.id;
  return 'cancelled';
end
$$;
