-- Whether a row may be a request of the queue: it is in a state of the domain's (`QueueState`), due unless it has ended, with its mail until then, and only one under
-- way has a lease. One function for all of it: every statement parses the conditions of a table's checks again, which took a tenth of queueing a mail.
create or replace function is_queued_request(
  p_state text, p_has_lease boolean, p_is_due boolean, p_has_ended boolean, p_has_request boolean
) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_state in ('queued', 'sending', 'deferred', 'sent', 'suppressed', 'failed', 'cancelled')
    and p_is_due <> p_has_ended and p_has_request <> p_has_ended and (p_state = 'sending' or not p_has_lease);
end
$$;
