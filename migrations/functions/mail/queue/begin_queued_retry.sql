-- `begin_email_retry` for a deferred request of the queue, in the transaction that sees that it is still the caller's; `Busy` where it has passed on. Called by
-- `SendQueue`. Lock order: the request, then that of `begin_email_retry`.
create or replace function begin_queued_retry(p_entry jsonb)
returns table (decision text, evidence jsonb, suppressions jsonb, first_attempt_at float8, last_attempt_at float8, torn boolean)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
begin
  -- Until the commit: a setting of the function ends before it.
  perform set_config('synchronous_commit', 'on', true);
  perform from email_send_queue q
  where q.id = (p_entry ->> 'queue_id')::uuid and q.lease = (p_entry ->> 'lease')::uuid
  for no key update;
  if found then
    return query select * from begin_email_retry(p_entry);
  else
    return query select 'Busy', null::jsonb, '[]'::jsonb, null::float8, null::float8, null::boolean;
  end if;
end
$$;
