-- The entries of `record_email_sends`, in the order in which their rows are locked. A deferral takes the place of the row that an
-- early event made of it, of either provider. A step of `record_known_sends`.
create or replace function email_log_rows_in_order(p_entries jsonb) returns email_log_row[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return array(
    select x
    from email_log_rows_of(p_entries) as x
    left join lateral (
      select l.provider, l.provider_message_id from email_log l
      where x.outcome = 'deferred' and l.key_tag = x.key_tag and l.outcome is null
        and l.outcome is distinct from 'sent' and l.provider_message_id is not null
        -- Compared and ordered as in `lock_early_row`.
        and l.created_at + interval '23 hours 50 minutes' > clock_timestamp()
      order by row(l.created_at, l.id) desc
      limit 1
    ) as early on true
    order by
      coalesce(early.provider, x.provider) collate "C" nulls last,
      coalesce(
        x.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = x.id),
        early.provider_message_id
      ) collate "C" nulls last,
      x.id, x.ordinal
  );
end
$$;
