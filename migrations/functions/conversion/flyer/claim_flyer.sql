-- Claims a flyer job (`claim_in_turn`); jobs of silent workers come before waiting ones. The same call again returns the same job.
-- Lock order: turn, flyer job.
create or replace function claim_flyer(p_lease uuid, p_stale interval, p_per_owner integer default null)
returns table (id uuid, file_id uuid, name text, object_key text, pages integer, attempts integer)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_flyer uuid;
begin
  select x.id into v_flyer from flyer_jobs x
  where x.status = 'processing' and (x.lease = p_lease or x.heartbeat_at < clock_timestamp() - p_stale)
  order by x.lease is not distinct from p_lease desc, x.created_at
  limit 1
  for no key update skip locked;
  v_flyer := coalesce(v_flyer, claim_in_turn('flyer', p_lease, null, p_per_owner));
  return query
  update flyer_jobs j set
    status = 'processing', lease = p_lease, heartbeat_at = clock_timestamp(), updated_at = clock_timestamp(),
    attempts = j.attempts + (j.lease is distinct from p_lease)::integer
  from files f
  where j.id = v_flyer and f.id = j.file_id
  returning j.id, j.file_id, f.name, f.object_key, f.pages, j.attempts;
end
$$;
