-- Requests a flyer of a PDF. Returns `queued`, `not_found`, `unsupported` (not a PDF), `active` or `insufficient`. Lock
-- order: file, customer, hold.
create or replace function request_flyer(p_id uuid, p_file_id uuid, p_customer_id uuid, p_window interval) returns text
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  f files;
begin
  select * into f from files where id = p_file_id and customer_id = p_customer_id and deleted_at is null for no key update;
  if not found then
    return 'not_found';
  end if;
  if f.kind <> 'pdf' then
    return 'unsupported';
  end if;
  if exists (select from flyer_jobs where id = p_id) then
    return 'queued';
  end if;
  if f.status in ('processing', 'chunked_processing')
    or exists (select from flyer_jobs x where x.file_id = f.id and x.status in ('pending', 'processing')) then
    return 'active';
  end if;
  if not place_hold(p_customer_id, p_id, f.pages, p_window) then
    return 'insufficient';
  end if;
  insert into flyer_jobs (id, file_id, customer_id) values (p_id, p_file_id, p_customer_id);
  return 'queued';
end
$$;
