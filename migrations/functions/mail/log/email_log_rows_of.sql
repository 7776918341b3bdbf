-- The entries of `record_email_sends`, in the order in which their rows are locked. A deferral takes the place of the row that an
-- early event made of it, of either provider.
create or replace function email_log_rows_of(p_entries jsonb) returns email_log_row[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  x record;
  e email_log_row;
  v_from text;
  v_rows email_log_row[] := '{}';
begin
  for x in select * from jsonb_array_elements(p_entries) with ordinality as y(entry, ord) loop
    -- Other members are stored as they come.
    e := jsonb_populate_record(null::email_log_row, x.entry);
    e.ordinal := x.ord;
    e.id := coalesce(e.id, gen_random_uuid());
    e.category := coalesce(e.category, 'unknown');
    v_from := x.entry ->> 'from';
    e.from_address := case when position('<' in v_from) = 0 then lower_address(trim_address(v_from)) else email_bare_address(v_from) end;
    e.to_addresses := email_addresses(x.entry -> 'to');
    e.other_addresses := email_addresses(x.entry -> 'others');
    e.dropped_addresses := email_addresses(x.entry -> 'dropped');
    e.failed_over := coalesce(e.failed_over, false);
    e.key_hash := coalesce(e.key_hash, encode(sha256(convert_to(e.idempotency_key, 'UTF8')), 'hex'));
    e.attempts := nullif(e.attempts, '[]');
    e.tags := nullif(e.tags, '{}');
    v_rows := v_rows || e;
  end loop;
  return array(
    select y from unnest(v_rows) as y
    left join lateral (
      select l.provider, l.provider_message_id from email_log l
      where y.outcome = 'deferred' and l.key_tag = y.key_tag and l.outcome is null
        and l.outcome is distinct from 'sent' and l.provider_message_id is not null
        and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
      order by l.created_at desc, l.id desc
      limit 1
    ) as early on true
    order by
      coalesce(early.provider, y.provider) collate "C" nulls last,
      coalesce(
        y.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = y.id),
        early.provider_message_id
      ) collate "C" nulls last,
      y.id, y.ordinal
  );
end
$$;
