-- A reply did not go out: it is tried again after `p_after`, as a link if `p_as_link`; `p_unknown`: it may have gone out.
create or replace function retry_reply(
  p_id uuid, p_lease uuid, p_after interval, p_error text, p_as_link boolean, p_unknown boolean default false
) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update intake_replies set
    lease = null, not_before = clock_timestamp() + p_after, error = p_error, as_link = as_link or p_as_link,
    unknowns = unknowns + case when p_unknown then 1 else 0 end
  where id = p_id and lease = p_lease;
  return found;
end
$$;
