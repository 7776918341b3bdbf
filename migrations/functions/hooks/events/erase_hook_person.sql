-- The part of `erase_person` that is about event hooks: events name the person no more. An event that is still to be sent is sent
-- without them. Returns whether anything was found.
create or replace function erase_hook_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_found boolean;
begin
  delete from event_hook_deliveries d where d.subject = 'suppression:' || p_email;
  v_found := found;
  update event_hook_deliveries d set
    answer = null,
    body = json_build_object(
      'type', d.type, 'timestamp', d.body::json -> 'timestamp',
      'data', (d.body::jsonb -> 'data') || jsonb_build_object(
        'to', (
          select coalesce(jsonb_agg(case x.value when to_jsonb(p_email) then to_jsonb(erased_alias(p_email)) else x.value end
            order by x.place), '[]')
          from jsonb_array_elements(d.body::jsonb -> 'data' -> 'to') with ordinality as x(value, place)
        ),
        'reason', error_without_person(d.body::jsonb -> 'data' ->> 'reason'),
        'tags', '{}'::jsonb
      )
    )
  where d.id in (
    select x.id from event_hook_deliveries x
    where x.type like 'email.%' and position(p_email in x.body) > 0 and x.body::jsonb -> 'data' -> 'to' ? p_email
    order by x.id
    for update
  );
  return v_found or found;
end
$$;
