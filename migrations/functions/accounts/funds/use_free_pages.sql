-- Uses free pages atomically; raises where the lifetime limit (10) would be exceeded (DOC-30).
create or replace function use_free_pages(p_customer_id uuid, p_pages integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if p_pages is null or p_pages < 0 then
    raise exception 'a number of pages cannot be %', p_pages using errcode = 'invalid_parameter_value';
  end if;
  perform from customers where id = p_customer_id for no key update;
  if not exists (select from available_funds(p_customer_id) f where f.free_pages >= p_pages) then
    raise exception 'the lifetime limit of free pages would be exceeded' using errcode = 'PL402';
  end if;
  update customers set lifetime_free_pages_used = lifetime_free_pages_used + p_pages
  where id = p_customer_id and p_pages > 0;
end
$$;
