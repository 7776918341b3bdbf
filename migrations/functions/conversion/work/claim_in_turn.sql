-- The walk over owners for each kind of leased work (DOC-12): owners take turns, and one has at most `p_per_owner` pieces of
-- the kind in progress; null: any number. A chunk comes back claimed, a flyer job locked; null where nothing can be claimed.
-- It looks at 32 owners, and the next claim continues behind them. Claims of a kind come one after another, those of
-- two kinds do not meet; where nothing waits they lock nothing. Lock order: the kind's turn, then what it claims: job, chunk,
-- file, or the flyer job.
create or replace function claim_in_turn(p_kind text, p_lease uuid, p_worker text, p_per_owner integer, p_primed boolean default true)
returns uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_start uuid;
  v_owner uuid;
  v_work uuid;
  v_wrapped boolean := false;
begin
  if next_owner_waiting(p_kind) is null then
    return null;
  end if;
  -- The next claim waits for this one's commit, which need not wait for the disk: a claim that a crash of the server undoes is no
  -- claim, and its worker's next heartbeat ends it (DOC-13).
  perform set_config('synchronous_commit', 'off', true);
  select t.customer_id into v_start from work_turns t where t.kind = p_kind for no key update;
  v_owner := v_start;
  for i in 1..32 loop
    v_owner := next_owner_waiting(p_kind, v_owner);
    if v_owner is null and not v_wrapped then
      v_wrapped := true;
      v_owner := next_owner_waiting(p_kind);
    end if;
    -- All that wait were looked at.
    if v_owner is null or (v_wrapped and v_owner > v_start) then
      return null;
    end if;
    continue when p_per_owner <= case p_kind
      when 'chunk' then (select count(*) from chunk_jobs c where c.status = 'processing' and c.customer_id = v_owner)
      when 'flyer' then (select count(*) from flyer_jobs x where x.status = 'processing' and x.customer_id = v_owner)
    end;
    v_work := case p_kind
      when 'chunk' then claim_chunk_of(v_owner, p_lease, p_worker, p_primed)
      when 'flyer' then next_flyer_of(v_owner)
    end;
    exit when v_work is not null;
  end loop;
  update work_turns t set customer_id = v_owner where t.kind = p_kind;
  return v_work;
end
$$;
