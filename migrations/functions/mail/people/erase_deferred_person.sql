-- The part of `erase_person` that is about the retry queue; returns whether anything was found. A retry that waits for this person
-- alone, and every dead letter that names them, ends here: its row is `suppressed`, or `failed` where somebody else would have got
-- the mail, and its text is gone. One that is under way, or has other recipients, looks again before it sends (MAIL-66).
create or replace function erase_deferred_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q record;
  v_details jsonb;
  v_others boolean;
  v_tag text;
  v_ended jsonb := '[]';
  v_found boolean := false;
begin
  for q in
    select x.sequence, x.state, x.acquired_by is not null and x.visible_at > now() as taken, json_or_null(x.element) as message
    from email_defer_queue x where position(p_email in lower_address(x.element)) > 0
    order by x.sequence for update
  loop
    v_details := q.message -> 'details';
    continue when q.message is not null and not coalesce(
      p_email = any (email_addresses(v_details -> 'to') || email_addresses(v_details -> 'others')), false);
    v_found := true;
    if q.state = 'completed' then
      update email_defer_queue set element = '{}' where sequence = q.sequence;
      continue;
    end if;
    v_others := exists (select from unnest(email_addresses(v_details -> 'to')) as x(address) where x.address <> p_email);
    continue when q.state <> 'failed' and (q.taken or v_others);
    delete from email_defer_queue where sequence = q.sequence;
    -- What an earlier version queued carries the hash of the key.
    v_tag := v_details ->> case when v_details ? 'keyTag' then 'keyTag' else 'keyHash' end;
    if v_details ->> 'keyHash' is not null
      and not exists (select from find_email_evidence(
        v_details ->> 'keyHash', v_tag, to_timestamp((q.message ->> 'firstAttemptAt')::float8 / 1000.0)))
    then
      v_ended := v_ended || jsonb_build_array(jsonb_build_object(
        'id', q.message ->> 'rowId', 'category', v_details ->> 'category', 'source', v_details ->> 'source',
        'from', v_details ->> 'from', 'to', v_details -> 'to', 'others', v_details -> 'others',
        'dropped', coalesce(v_details -> 'dropped', '[]') || to_jsonb(p_email),
        'idempotency_key', v_details ->> 'idempotencyKey', 'key_hash', v_details ->> 'keyHash', 'key_tag', v_tag,
        'provider', q.message -> 'request' ->> 'provider', 'failed_over', q.message -> 'failedOver'
      ) || case when v_others
        then '{"outcome": "failed", "error_kind": "ambiguous", "error": "the person was erased"}'::jsonb
        else '{"outcome": "suppressed", "error": "Recipient suppressed: erased; an earlier attempt may have been accepted"}'
      end);
    end if;
  end loop;
  if v_ended <> '[]' then
    perform record_email_sends(v_ended);
  end if;
  return v_found;
end
$$;
