-- Writes for the hooks which addresses were added to the suppression list or removed, unsubscribed ones included. Nothing is written when
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
        jsonb_build_object('email', x.email, 'reason', y.reason, 'occurredAt', hook_time(v_now)), null, null
      )::hook_event
      from changed as x
      cross join lateral (select case tg_table_name when 'unsubscribes' then 'unsubscribed' else x.reason end as reason) as y
      where x.email not like 'erased:%' and (tg_op = 'INSERT' or not exists (
        select from erased_suppressions e where e.address_hash = address_hash(x.email) and e.reason = y.reason
        union all
        select from unsubscribes u where u.email = erased_alias(x.email) and y.reason = 'unsubscribed'
      ))
      order by x.email, y.reason
    ));
  end if;
  return null;
end
$$;
