-- Claims a mail that was received: of the turns with a mail that is due, one that was served longest ago, and of that the mail that is
-- due for longest. So one sender's mails, however many and however dear to read, hold up another's by one at most (H3).
create or replace function claim_received_mail(p_lease uuid, p_stale interval, p_home text) returns setof intake_mails
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_id uuid;
  v_turn text;
begin
  select x.id into v_id from intake_mails x where x.lease = p_lease and x.step = 'received' for no key update;
  if v_id is null then
    for v_turn in
      with recursive w as (
        (select x.turn from intake_mails x where x.step = 'received' order by x.turn limit 1)
        union all
        select (select x.turn from intake_mails x where x.step = 'received' and x.turn > w.turn order by x.turn limit 1)
        from w where w.turn is not null
      )
      select w.turn from w
      cross join lateral (
        select min(x.not_before) as due from intake_mails x
        where x.step = 'received' and x.turn = w.turn and x.not_before <= clock_timestamp() and (x.home is null or x.home = p_home)
          and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)
      ) d
      where w.turn is not null and d.due is not null
      order by (select max(x.claimed_at) from intake_mails x where x.turn = w.turn and x.claimed_at is not null) nulls first, d.due
    loop
      select x.id into v_id from intake_mails x
      where x.step = 'received' and x.turn = v_turn and x.not_before <= clock_timestamp() and (x.home is null or x.home = p_home)
        and (x.lease is null or x.heartbeat_at < clock_timestamp() - p_stale)
      order by x.not_before
      limit 1
      for no key update skip locked;
      exit when v_id is not null;
    end loop;
  end if;
  return query
    update intake_mails m set
      former_lease = case when m.lease is not distinct from p_lease then m.former_lease else coalesce(m.lease, m.former_lease) end,
      lease = p_lease, heartbeat_at = clock_timestamp(),
      claimed_at = case when m.lease is not distinct from p_lease then m.claimed_at else clock_timestamp() end,
      attempts = m.attempts + (m.lease is distinct from p_lease)::integer
    where m.id = v_id
    returning m.*;
end
$$;
