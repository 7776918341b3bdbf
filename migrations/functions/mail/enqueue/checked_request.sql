-- A request without what counts as absent, once nothing is wrong with it. `p_place`: of the request among others, for the error that names a field (22023).
-- A step of `queue_email`.
create or replace function checked_request(p_request jsonb, p_place text) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_request jsonb := p_request;
  v_fault text;
begin
  -- Some languages write null for an absent field, and [] for an empty object.
  if jsonb_typeof(v_request) = 'object'
    and (v_request @? '$.* ? (@ == null)' or v_request -> 'tags' = '[]' or v_request -> 'headers' = '[]')
  then
    select coalesce(jsonb_object_agg(x.key, x.value), '{}') into v_request from jsonb_each(v_request) as x
    where x.value <> 'null' and not (x.key in ('tags', 'headers') and x.value = '[]');
  end if;
  v_fault := queued_request_fault(v_request);
  if v_fault is not null then
    raise exception using errcode = '22023', message = p_place || v_fault;
  end if;
  return v_request;
end
$$;
