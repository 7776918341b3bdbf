-- Begins an attempt at a call under its caller's idempotency key (HTTP-16). Called by `RequestKeys`. `state`:
--   held           the attempt may work, with ids that follow from `call_id`; the same lease again is answered the same
--   answered       `answer` is the first attempt's
--   busy           another attempt is under way
--   other_request  the key is in use for another request
-- A key older than 24 hours is a new one. Locks the key alone.
create or replace function hold_request_key(
  p_customer_id uuid, p_key_hash text, p_request_hash text, p_call_id uuid, p_lease uuid, p_window interval
) returns table (state text, call_id uuid, content_hash text, answer jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  k request_keys;
begin
  loop
    insert into request_keys (customer_id, key_hash, request_hash, call_id, lease, held_until)
    values (p_customer_id, p_key_hash, p_request_hash, p_call_id, p_lease, clock_timestamp() + p_window)
    on conflict (customer_id, key_hash) do nothing;
    if found then
      return query select 'held', p_call_id, null::text, null::jsonb;
      return;
    end if;
    select * into k from request_keys where customer_id = p_customer_id and key_hash = p_key_hash for update;
    -- It was given back at the same moment.
    continue when not found;
    exit when k.created_at > clock_timestamp() - interval '24 hours';
    delete from request_keys where customer_id = p_customer_id and key_hash = p_key_hash;
  end loop;
  if k.request_hash <> p_request_hash then
    return query select 'other_request', k.call_id, null::text, null::jsonb;
  elsif k.answer is not null then
    return query select 'answered', k.call_id, k.content_hash, k.answer;
  elsif k.lease <> p_lease and k.held_until > clock_timestamp() then
    return query select 'busy', k.call_id, null::text, null::jsonb;
  else
    update request_keys set
      lease = p_lease, held_until = clock_timestamp() + p_window,
      attempts = attempts + case when lease = p_lease then 0 else 1 end
    where customer_id = p_customer_id and key_hash = p_key_hash;
    return query select 'held', k.call_id, null::text, null::jsonb;
  end if;
end
$$;
