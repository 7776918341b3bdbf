-- The part of `erase_person` that is about the send queue; returns whether anything was found. What waits for this person alone is cancelled; what others get,
-- too, goes on without them. A request that is being sent, or has an attempt of unknown end, is left to its sender: a retry looks again before it
-- sends (MAIL-66), and one that goes back is written without them. What has ended names them by the hash.
create or replace function erase_queued_person(p_email text, p_alias text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q record;
  v_request jsonb;
  v_found boolean := false;
begin
  for q in
    select x.id, x.state, x.request from email_send_queue x
    where position(p_email in lower_address(concat_ws(' ', x.request::text, x.deferral, x.tried::text, x.error, x.result::text))) > 0
    order by x.id for update
  loop
    v_request := request_without_person(q.request, p_email);
    continue when q.request is not null and v_request = q.request;
    v_found := true;
    if v_request -> 'to' = '[]' then
      continue when q.state <> 'queued' or cancel_email(q.id) <> 'cancelled';
      v_request := null;
    end if;
    update email_send_queue x set
      request = v_request, error = error_without_person(x.error), tried = attempts_without_person(x.tried),
      result = x.result || jsonb_build_object('suppressedRecipients', (
          select coalesce(jsonb_agg(case s.value when to_jsonb(p_email) then to_jsonb(p_alias) else s.value end), '[]')
          from jsonb_array_elements(x.result -> 'suppressedRecipients') as s
        )) || case when x.result ? 'error' then jsonb_build_object('error', error_without_person(x.result ->> 'error')) else '{}' end
    where x.id = q.id;
  end loop;
  return v_found;
end
$$;
