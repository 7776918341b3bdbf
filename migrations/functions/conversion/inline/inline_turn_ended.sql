-- Charges the time of an attempt to its owner's turn, however it ended: reported, deleted, or taken over from a worker that
-- died. One without a result counts for more.
create or replace function inline_turn_ended() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_taken interval := least(v_now - old.claimed_at, interval '10 minutes')
    + case when new.status = 'completed' then interval '0' else interval '30 seconds' end;
begin
  insert into inline_turns as t (customer_id, busy_until) values (old.customer_id, v_now + v_taken)
  on conflict (customer_id) do update set busy_until = greatest(t.busy_until, v_now) + v_taken;
  return null;
end
$$;
