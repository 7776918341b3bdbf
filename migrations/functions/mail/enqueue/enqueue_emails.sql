-- Queues several requests, all or none (QUEUE-2); `ordinal` counts them from 1. Called by `SendQueue`. Keys of an entry: request, payload_hash, sender. Keys are taken
-- in their order, so that two batches cannot wait for each other; a key that an open transaction queues is waited for two seconds (55P03).
-- An error of one entry names its place: `emails.3.to: …`. `p_batch_hash`: of entries that are one batch under one key; `p_batch_keys`: all that the
-- mails of a batch under that key may have. While one of them is held for another batch, this one is a conflict, also where it is shorter (FRONT-8).
-- The settings: by the index alone, whatever the statistics say of a queue that grew quickly.
create or replace function enqueue_emails(p_entries jsonb, p_batch_hash text default null, p_batch_keys text[] default null)
returns table (ordinal integer, id uuid, idempotency_key text, state text, send_at timestamptz)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '2s'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
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
      e.entry -> 'request', e.entry ->> 'payload_hash', 'emails.' || (e.place - 1) || '.', (e.entry ->> 'sender')::uuid, p_batch_hash
    );
    ordinal := e.place;
    id := q.id;
    idempotency_key := q.idempotency_key;
    state := q.state;
    send_at := q.send_at;
    return next;
  end loop;
  -- Last: a transaction that queues a batch under this key at the same time has been waited for, at the first mail.
  if exists (
    select from email_send_queue q
    where q.held_key = any (array(select encode(sha256(convert_to(k.name, 'UTF8')), 'hex') from unnest(p_batch_keys) as k(name)))
      and q.request_hash not like '%.' || p_batch_hash and (q.ended_at is null or q.ended_at >= clock_timestamp() - interval '24 hours')
  ) then
    raise exception using errcode = '23505', message = 'IDEMPOTENCY_CONFLICT: the key was used with another batch in the last 24 hours';
  end if;
end
$$;
