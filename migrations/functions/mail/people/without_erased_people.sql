-- The entries of `record_email_sends`, those of retries without the people who were erased meanwhile: their rows name them as the
-- others of the key do, and hold nothing of the mail.
create or replace function without_erased_people(p_entries jsonb) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_entry jsonb;
  v_name text;
  v_gone text[];
  v_all jsonb := '[]';
begin
  for v_entry in select x.value from jsonb_array_elements(p_entries) as x loop
    if v_entry -> 'settle' -> 'isRetry' = 'true' then
      v_gone := email_erased_of(v_entry ->> 'key_hash', email_addresses(v_entry -> 'to')
        || email_addresses(v_entry -> 'others') || email_addresses(v_entry -> 'dropped'));
      if v_gone <> '{}' then
        foreach v_name in array array['to', 'others', 'dropped'] loop
          v_entry := jsonb_set(v_entry, array[v_name], to_jsonb(array(
            select case when x.address = any (v_gone) then erased_alias(x.address) else x.address end
            from unnest(email_addresses(v_entry -> v_name)) with ordinality as x(address, place)
            order by x.place
          )));
        end loop;
        if exists (select from unnest(v_gone) as x(address) where position(x.address in lower_address(v_entry ->> 'idempotency_key')) > 0) then
          v_entry := v_entry || '{"idempotency_key": null}';
        end if;
        v_entry := v_entry || jsonb_build_object(
          'subject', null, 'tags', null, 'error', error_without_person(v_entry ->> 'error'),
          'attempts', attempts_without_person(v_entry -> 'attempts'),
          -- The claim keeps the first call's result, without the erased addresses.
          'settle', (v_entry -> 'settle') - 'result');
      end if;
    end if;
    v_all := v_all || jsonb_build_array(v_entry);
  end loop;
  return v_all;
end
$$;
