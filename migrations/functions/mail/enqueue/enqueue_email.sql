-- Queues a mail in the caller's own transaction, and returns the id of its request: a mail that is sent if, and only if, that transaction commits
-- (QUEUE-1). For callers in SQL, from any language; see docs/guides/own-transaction.md. Runs with the rights of its owner, so that an application needs
-- none but to call it.
--
-- SQLSTATE 22023: a field is wrong, which the message names; 54000: more than 1 MB; 23505: the key was used with another request.
create or replace function enqueue_email(p_request jsonb) returns uuid
language plpgsql
security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return (queue_email(p_request, null, '', null)).id;
end
$$;
