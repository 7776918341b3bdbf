-- Notes that a webhook brought an event. Locks nothing where that was noted in the last minute. Called by `DeliveryLog`.
create or replace function note_event_intake(p_provider text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from event_intakes i where i.provider = p_provider and i.heard_at > clock_timestamp() - interval '1 minute'
  ) then
    insert into event_intakes as i (provider, heard_at) values (p_provider, clock_timestamp())
    on conflict (provider) do update set heard_at = excluded.heard_at where i.heard_at < excluded.heard_at;
  end if;
end
$$;
