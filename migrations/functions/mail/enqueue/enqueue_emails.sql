-- Queues several requests, all or none (QUEUE-2); `ordinal` counts them from 1. Called by `SendQueue`. Keys of an entry: request, payload_hash, sender. Keys are taken
-- in their order, so that two batches cannot wait for each other; a key that an open transaction queues is waited for two seconds (55P03).
-- An error of one entry names its place: `emails.3.to: …`.
create or replace function enqueue_emails(p_entries jsonb)
returns table (ordinal integer, id uuid, idempotency_key text, state text, send_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
  e record;
  q record;
begin
  for e in
    select x.entry, x.place from jsonb_array_elements(p_entries) with ordinality as x(entry, place)
    order by x.entry -> 'request' ->> 'idempotencyKey', x.place
  loop
    q := queue_email(
      e.entry -> 'request', e.entry ->> 'payload_hash', 'emails.' || (e.place - 1) || '.', (e.entry ->> 'sender')::uuid
    );
    ordinal := e.place;
    id := q.id;
    idempotency_key := q.idempotency_key;
    state := q.state;
    send_at := q.send_at;
    return next;
  end loop;
end
$$;
