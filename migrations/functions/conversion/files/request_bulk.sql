-- Requests the conversions of a bulk order, all or none. An item: `{"jobId", "fileId", "options"}`. Returns `queued` (the
-- same call again too), or why not and for which file, as `request_conversion`. Lock order: every file by id, before any
-- customer or hold, so that two orders of the same files cannot wait for each other.
create or replace function request_bulk(
  p_bulk_id uuid, p_customer_id uuid, p_items jsonb, p_window interval, p_reference text default null
)
returns table (answer text, file_id uuid)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  i record;
  v_answer text := 'queued';
  v_file uuid;
begin
  if exists (select from bulk_orders where id = p_bulk_id) then
    return query select 'queued', null::uuid;
    return;
  end if;
  -- Every file before any customer or hold, by id.
  perform from files f
  where f.id = any (array(select (x ->> 'fileId')::uuid from jsonb_array_elements(p_items) as x))
  order by f.id
  for no key update;
  begin
    insert into bulk_orders (id, customer_id, reference) values (p_bulk_id, p_customer_id, p_reference);
    for i in
      select (x.item ->> 'jobId')::uuid as job, (x.item ->> 'fileId')::uuid as file, x.item -> 'options' as options,
        x.place::integer - 1 as place
      from jsonb_array_elements(p_items) with ordinality as x(item, place)
    loop
      v_file := i.file;
      v_answer := request_conversion(i.job, i.file, p_customer_id, i.options, p_window, p_bulk_id);
      if v_answer <> 'queued' then
        raise exception 'refused' using errcode = 'PL409';
      end if;
      insert into bulk_items (bulk_id, place, file_id, job_id) values (p_bulk_id, i.place, i.file, i.job);
    end loop;
  exception
    -- The order is rolled back; the answer stays.
    when sqlstate 'PL409' then null;
  end;
  return query select v_answer, case when v_answer <> 'queued' then v_file end;
end
$$;
