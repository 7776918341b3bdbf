-- Enters a file; the same file a second time changes nothing. Returns `added` or `full`: how many files, and how many bytes,
-- a customer keeps is limited by plan (DOC-1). Uploads of one customer come one after another, so that none of them counts
-- without the others: it locks the customer alone, for the file is new.
create or replace function add_file(
  p_id uuid, p_customer_id uuid, p_name text, p_kind text, p_size_bytes bigint, p_pages integer, p_object_key text,
  p_limits jsonb, p_left_out jsonb default null, p_reference text default null
) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_limit jsonb;
  v_files bigint;
  v_bytes numeric;
begin
  select p_limits -> plan_type into v_limit from customers where id = p_customer_id for no key update;
  if exists (select from files where id = p_id) then
    return 'added';
  end if;
  select count(*), coalesce(sum(size_bytes), 0) into v_files, v_bytes
  from files where customer_id = p_customer_id and deleted_at is null;
  if v_files >= (v_limit ->> 'files')::bigint or v_bytes + p_size_bytes > (v_limit ->> 'bytes')::numeric then
    return 'full';
  end if;
  insert into files (id, customer_id, name, kind, size_bytes, pages, object_key, left_out, reference)
  values (p_id, p_customer_id, p_name, p_kind, p_size_bytes, p_pages, p_object_key, p_left_out, p_reference);
  return 'added';
end
$$;
