-- Puts a request back into the queue, without people who were erased meanwhile. Where no recipient is left it is cancelled; one that no provider
-- could be asked for ends. A step of `end_queued_emails`.
create or replace function put_back_queued_email(p_entry jsonb) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_state text := p_entry ->> 'state';
  v_goes_on boolean := v_state <> 'failed';
  v_row email_send_queue;
  v_request jsonb;
  v_email text;
begin
  select * into v_row from email_send_queue q where q.id = (p_entry ->> 'queue_id')::uuid;
  v_request := v_row.request;
  if v_state = 'queued' then
    foreach v_email in array
      email_erased_of(v_row.key_hash, email_addresses(v_request -> 'to') || email_addresses(v_request -> 'cc') || email_addresses(v_request -> 'bcc'))
    loop
      v_request := request_without_person(v_request, v_email);
    end loop;
    if v_request -> 'to' = '[]' then
      v_state := 'cancelled';
      v_goes_on := false;
    end if;
  end if;
  if not v_goes_on then
    v_row.request := v_request;
    v_row.error := p_entry ->> 'error';
    perform tell_hooks_of_request(v_row, v_state);
  end if;
  update email_send_queue q set
    state = v_state,
    due_at = case when v_goes_on then v_now + make_interval(secs => (p_entry ->> 'due_ms')::float8 / 1000) end,
    ended_at = case when not v_goes_on then v_now end,
    lease = null,
    -- Its sender lives.
    deaths = 0,
    provider = coalesce(p_entry ->> 'provider', q.provider),
    attempts = coalesce(jsonb_array_length(p_entry -> 'tried'), q.attempts),
    refusals = coalesce((p_entry ->> 'refusals')::integer, q.refusals),
    held_key = case when (p_entry ->> 'frees')::boolean or v_state = 'cancelled' then null else q.held_key end,
    request = case when v_goes_on then v_request end,
    deferral = case when v_goes_on then p_entry ->> 'deferral' end,
    tried = case when v_goes_on then nullif(p_entry -> 'tried', 'null') end,
    error = p_entry ->> 'error',
    result = nullif(p_entry -> 'result', 'null')
  where q.id = v_row.id
  returning q.* into v_row;
  if p_entry ->> 'state' = 'deferred' and p_entry -> 'defers' = 'true' then
    perform tell_hooks_of_request(v_row, 'deferred');
  end if;
end
$$;
