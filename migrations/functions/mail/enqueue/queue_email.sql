-- Queues a request, or finds the one that its key belongs to. `p_payload_hash`: of the mail, as claims keep it, where the caller knows it: the key may be
-- a direct send's; of a new request only id, key, state and time are returned. `p_place`: of the request among others, for its errors. `p_sender`: the token of the program that asks. Waits for an open transaction that queues the same key. A step of `enqueue_email` and `enqueue_emails`.
create or replace function queue_email(p_request jsonb, p_payload_hash text, p_place text, p_sender uuid) returns email_send_queue
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q email_send_queue;
  v_fault text;
  v_id uuid := gen_random_uuid();
  v_key text;
  v_hash text;
  v_at timestamptz;
begin
  -- Other languages write null for what is absent, and [] for an object without members.
  if jsonb_typeof(p_request) = 'object'
    and (p_request @? '$.* ? (@ == null)' or p_request -> 'tags' = '[]' or p_request -> 'headers' = '[]')
  then
    select coalesce(jsonb_object_agg(x.key, x.value), '{}') into p_request from jsonb_each(p_request) as x
    where x.value <> 'null' and not (x.key in ('tags', 'headers') and x.value = '[]');
  end if;
  v_key := p_request ->> 'idempotencyKey';
  v_fault := queued_request_fault(p_request);
  if v_fault is not null then
    raise exception using errcode = '22023', message = p_place || v_fault;
  end if;
  if octet_length(p_request::text) > 1048576 then
    raise exception using errcode = '54000', message = p_place || 'the request has more than 1 MB, attachments included';
  end if;
  v_hash := queued_request_hash(p_request);
  v_at := greatest(clock_timestamp(), queued_moment(p_request ->> 'sendAt'));
  q.idempotency_key := coalesce(v_key, v_id::text);
  q.key_hash := encode(sha256(convert_to(q.idempotency_key, 'UTF8')), 'hex');
  if p_payload_hash is not null and v_key is not null and exists (
    select from email_send_claims c
    where c.key_hash = q.key_hash and c.state <> 'refused' and c.payload_hash not in ('', p_payload_hash)
      and clock_timestamp() - c.last_attempt_at < interval '24 hours'
  ) then
    raise exception using errcode = '23505', message = 'IDEMPOTENCY_CONFLICT: the key was used with another mail in the last 24 hours';
  end if;
  loop
    insert into email_send_queue as x (
      id, idempotency_key, key_hash, held_key, request_hash, category, lane, provider, send_at, expires_at, due_at, request, sender
    ) values (
      v_id, q.idempotency_key, q.key_hash, case when v_key is not null then q.key_hash end, v_hash, p_request ->> 'category',
      array_position(email_queue_lanes(), p_request ->> 'category'), coalesce(p_request ->> 'provider', ''), v_at,
      queued_moment(p_request ->> 'expiresAt'), v_at, p_request, p_sender
    )
    on conflict (held_key) where held_key is not null do nothing;
    if found then
      q.id := v_id;
      q.state := 'queued';
      q.send_at := v_at;
      exit;
    end if;
    -- Only now: the insert has waited for the transaction that holds the key.
    select * into q from email_send_queue x where x.held_key = encode(sha256(convert_to(v_key, 'UTF8')), 'hex');
    if found and q.ended_at < clock_timestamp() - interval '24 hours' then
      update email_send_queue x set held_key = null where x.id = q.id;
    elsif found then
      if q.request_hash <> v_hash then
        raise exception using errcode = '23505', message = 'IDEMPOTENCY_CONFLICT: the key was used with another request in the last 24 hours';
      end if;
      exit;
    end if;
    q.idempotency_key := v_key;
    q.key_hash := encode(sha256(convert_to(v_key, 'UTF8')), 'hex');
  end loop;
  return q;
end
$$;
