-- Queues a request, or finds the one that its key belongs to. `p_payload_hash`: of the mail, as claims keep it, where the caller knows it: the key may be
-- a direct send's; `p_place`: of the request among others, for its errors. `p_sender`: the token of the program that asks; `p_batch_hash`: of the batch
-- that it is part of. Waits for an open transaction that queues the same key. A step of `enqueue_email` and `enqueue_emails`.
create or replace function queue_email(
  p_request jsonb, p_payload_hash text, p_place text, p_sender uuid, p_batch_hash text default null,
  out id uuid, out idempotency_key text, out state text, out send_at timestamptz
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  q email_send_queue;
  v_id uuid := gen_random_uuid();
  v_key text;
  v_name text;
  v_key_hash text;
  v_hash text;
  v_at timestamptz;
begin
  if is_plain_request(p_request) is not true then
    p_request := checked_request(p_request, p_place);
  end if;
  if octet_length(p_request::text) > 1048576 then
    raise exception using errcode = '54000', message = p_place || 'the request has more than 1 MB, attachments included';
  end if;
  v_key := p_request ->> 'idempotencyKey';
  v_name := coalesce(v_key, v_id::text);
  v_key_hash := encode(sha256(convert_to(v_name, 'UTF8')), 'hex');
  v_hash := queued_request_hash(p_request) || coalesce('.' || p_batch_hash, '');
  v_at := greatest(clock_timestamp(), queued_moment(p_request ->> 'sendAt'));
  if p_payload_hash is not null and v_key is not null and exists (
    select from email_send_claims c
    where c.key_hash = v_key_hash and c.state <> 'refused' and c.payload_hash not in ('', p_payload_hash)
      and clock_timestamp() - c.last_attempt_at < interval '24 hours'
  ) then
    raise exception using errcode = '23505', message = 'IDEMPOTENCY_CONFLICT: the key was used with another mail in the last 24 hours';
  end if;
  loop
    insert into email_send_queue as x (
      id, idempotency_key, key_hash, held_key, request_hash, category, lane, provider, send_at, expires_at, due_at, request, sender
    ) values (
      v_id, v_name, v_key_hash, case when v_key is not null then v_key_hash end, v_hash, p_request ->> 'category',
      array_position(email_queue_lanes(), p_request ->> 'category'), coalesce(p_request ->> 'provider', ''), v_at,
      queued_moment(p_request ->> 'expiresAt'), v_at, p_request, p_sender
    )
    on conflict (held_key) where held_key is not null do nothing;
    if found then
      id := v_id;
      idempotency_key := v_name;
      state := 'queued';
      send_at := v_at;
      return;
    end if;
    -- Only now: the insert has waited for the transaction that holds the key.
    select * into q from email_send_queue x where x.held_key = v_key_hash;
    if found and q.ended_at < clock_timestamp() - interval '24 hours' then
      update email_send_queue x set held_key = null where x.id = q.id;
    elsif found then
      if q.request_hash <> v_hash then
        raise exception using errcode = '23505', message = 'IDEMPOTENCY_CONFLICT: the key was used with another request in the last 24 hours';
      end if;
      id := q.id;
      idempotency_key := q.idempotency_key;
      state := q.state;
      send_at := q.send_at;
      return;
    end if;
  end loop;
end
$$;
