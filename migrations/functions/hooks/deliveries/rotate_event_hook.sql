-- Gives a hook a new secret, and returns it; the one before signs, too, for 24 hours, and so do up to two that were replaced within as
-- much: the receiver may have any of them. Null where there is no such hook, or the settings hold its secrets.
create or replace function rotate_event_hook(p_id uuid) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_secret text := new_hook_secret();
begin
  update event_hooks h set
    old_secret = array_to_string(
      (h.secret || case when h.old_secret_until > clock_timestamp() then string_to_array(h.old_secret, ' ') end)[1:3], ' '),
    old_secret_until = clock_timestamp() + interval '24 hours', secret = v_secret, updated_at = clock_timestamp()
  where h.id = p_id and not h.from_settings;
  return case when found then v_secret end;
end
$$;
