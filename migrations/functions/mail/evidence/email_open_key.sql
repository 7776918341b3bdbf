-- The key under which a mail is asked for now: the key itself; where its deferral ended without a mail, KEY/2, then KEY/3,
-- and so on. `state`: new (never deferred), deferred, sent. `ended`: how the deferral before the open key ended. Called by
-- `Deferrals`, and by outreach.
create or replace function email_open_key(p_key text, out key text, out state text, out ended text)
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_number integer := 1;
begin
  loop
    key := case v_number when 1 then p_key else p_key || '/' || v_number end;
    state := coalesce(email_deferral_end(key), 'new');
    exit when state not in ('failed', 'suppressed');
    ended := state;
    v_number := v_number + 1;
  end loop;
end
$$;
