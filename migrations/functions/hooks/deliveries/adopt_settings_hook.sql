-- Makes the hook of the settings what they say; without an address it is switched off, and its deliveries stay. One that a person or its
-- receiver's silence switched off stays off. Called by the dispatcher when it starts.
create or replace function adopt_settings_hook(p_url text, p_secret text, p_old_secret text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_url is null then
    update event_hooks set off_by = 'settings', updated_at = clock_timestamp() where from_settings and off_by is null;
    return;
  end if;
  insert into event_hooks as h (url, secret, old_secret, old_secret_until, from_settings)
  values (p_url, p_secret, p_old_secret, case when p_old_secret is not null then 'infinity'::timestamptz end, true)
  on conflict (from_settings) where from_settings do update set
    url = excluded.url, secret = excluded.secret, old_secret = excluded.old_secret, old_secret_until = excluded.old_secret_until,
    off_by = nullif(h.off_by, 'settings'), updated_at = clock_timestamp();
end
$$;
