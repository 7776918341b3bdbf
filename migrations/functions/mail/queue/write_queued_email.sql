-- Moves a request that its sender holds. A step of `end_queued_emails`.
create or replace function write_queued_email(p_entry jsonb, p_send_id uuid) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_goes_on boolean := p_entry ->> 'state' in ('queued', 'deferred');
  v_now timestamptz := clock_timestamp();
  v_request email_send_queue;
begin
  update email_send_queue q set
    state = p_entry ->> 'state',
    due_at = case when v_goes_on then v_now + make_interval(secs => (p_entry ->> 'due_ms')::float8 / 1000) end,
    ended_at = case when not v_goes_on then v_now end,
    lease = null,
    -- Its sender lives.
    deaths = 0,
    provider = coalesce(p_entry ->> 'provider', q.provider),
    attempts = coalesce(jsonb_array_length(p_entry -> 'tried'), q.attempts),
    refusals = coalesce((p_entry ->> 'refusals')::integer, q.refusals),
    held_key = case when (p_entry ->> 'frees')::boolean then null else q.held_key end,
    request = case when v_goes_on then q.request end,
    deferral = case when v_goes_on then p_entry ->> 'deferral' end,
    tried = case when v_goes_on then nullif(p_entry -> 'tried', 'null') end,
    error = p_entry ->> 'error',
    result = case when p_send_id is null then nullif(p_entry -> 'result', 'null')
      else (p_entry -> 'result') || jsonb_build_object('sendId', p_send_id) end
  where q.id = (p_entry ->> 'queue_id')::uuid
  returning q.* into v_request;
  if p_entry ->> 'state' = 'deferred' and p_entry -> 'defers' = 'true' then
    perform tell_hooks_of_request(v_request, 'deferred');
  end if;
end
$$;
