-- Claims a mail to be converted, of at most `p_most_pages` pages (null: of any number): customers take turns (H3), and of one the mail
-- that is due for longest. A customer of whom a mail is being converted is passed over as long as another one waits, with `p_idle_only`
-- altogether. The same call again returns the same mail. Lock order: turn, mail; claims come one after another, and lock nothing where
-- nothing waits. A claim that is stuck, with its session or its disk, holds up no other for long: that goes by the turn as it was.
create or replace function claim_converting_mail(
  p_lease uuid, p_stale interval, p_home text, p_most_pages integer default null, p_idle_only boolean default false
) returns setof intake_mails
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_patience text := current_setting('lock_timeout');
  v_takes_turn boolean := true;
  v_last uuid;
  v_owner uuid;
  v_id uuid;
begin
  select m.id into v_id from intake_mails m where m.step = 'converting' and m.lease = p_lease for no key update;
  if v_id is null and exists (
    select from intake_mails m
    where m.step = 'converting' and m.not_before <= v_now and (m.lease is null or m.heartbeat_at < v_now - p_stale)
      and (m.home is null or m.home = p_home)
  ) then
    -- The next claim waits for this one's commit, which need not wait for the disk: a claim that a crash of the server undoes is no
    -- claim, and its worker's next heartbeat ends it.
    perform set_config('synchronous_commit', 'off', true);
    begin
      perform set_config('lock_timeout', '250ms', true);
      select t.customer_id into v_last from work_turns t where t.kind = 'mail' for no key update;
    exception when lock_not_available then
      v_takes_turn := false;
      select t.customer_id into v_last from work_turns t where t.kind = 'mail';
    end;
    perform set_config('lock_timeout', v_patience, true);
    for v_owner in
      select o.customer_id from owners_of_converting_mails(v_now - p_stale) as o
      where not (p_idle_only and o.is_busy)
      order by o.is_busy, o.customer_id <= v_last, o.customer_id
    loop
      select m.id into v_id from intake_mails m
      where m.customer_id = v_owner and m.step = 'converting' and m.not_before <= v_now
        and (m.lease is null or m.heartbeat_at < v_now - p_stale) and (p_most_pages is null or m.pages <= p_most_pages)
        and (m.home is null or m.home = p_home)
      order by m.not_before
      limit 1
      for no key update skip locked;
      exit when v_id is not null;
    end loop;
    if v_id is not null and v_takes_turn then
      update work_turns t set customer_id = v_owner where t.kind = 'mail';
    end if;
  end if;
  return query
    update intake_mails m set
      former_lease = case when m.lease is not distinct from p_lease then m.former_lease else coalesce(m.lease, m.former_lease) end,
      lease = p_lease, heartbeat_at = clock_timestamp(), attempts = m.attempts + (m.lease is distinct from p_lease)::integer
    where m.id = v_id
    returning m.*;
end
$$;
