-- Writes for the hooks which addresses were added to the suppression list or removed, unsubscribed ones included, of a
-- list with its name. Nothing is written when
-- an erased person's address is replaced by its hash (P3).
create or replace function tell_hooks_of_suppressions() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if any_event_hook() then
    perform write_hook_deliveries(array(
      select row(
        case tg_op when 'INSERT' then 'suppression.added' else 'suppression.removed' end,
        'suppression:' || x.email, v_now,
        jsonb_strip_nulls(jsonb_build_object(
          'email', x.email, 'reason', y.reason, 'list', y.list, 'occurredAt', hook_time(v_now))), null, null
      )::hook_event
      from changed as x
      cross join lateral (select
        case when tg_table_name = 'email_suppressions' then to_jsonb(x) ->> 'reason' else 'unsubscribed' end as reason,
        to_jsonb(x) ->> 'list' as list
      ) as y
      where x.email not like 'erased:%' and (tg_op = 'INSERT' or not exists (
        select from erased_suppressions e where e.address_hash = address_hash(x.email) and e.reason = y.reason
        union all
        select from unsubscribes u
        where u.email = erased_alias(x.email) and y.reason = 'unsubscribed' and y.list is null
        union all
        select from list_unsubscribes l where l.email = erased_alias(x.email) and l.list = y.list
      ))
    ));
  end if;
  return null;
end
$$;
