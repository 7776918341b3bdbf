-- The submitted rows that are due, at most `p_limit`: each is given to one driver, and again after `p_every`. The deadline counts
-- as a poll.
create or replace function claim_batch_polls(p_every interval, p_limit integer) returns setof conversion_batch_jobs
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  with d as materialized (
    select id from conversion_batch_jobs
    where state = 'submitted' and next_poll_at <= (select clock_timestamp())
    order by next_poll_at
    limit p_limit
    for no key update skip locked
  )
  update conversion_batch_jobs b set next_poll_at = case
    when b.deadline_at > clock_timestamp() then least(clock_timestamp() + p_every, b.deadline_at)
    else clock_timestamp() + p_every
  end
  from d
  where b.id = d.id
  returning b.*
$$;
