-- Takes due requests for a sender, each under a new lease (QUEUE-3 to QUEUE-5). Called by `SendQueue`. `p_paces`: for each provider, in one order for all
-- callers, { provider, rate (a second; 0: no pace), fixed (the provider's own word does not count), primary }.
--
-- A row of the answer: the request; `wait_ms` until it may leave; `next_ms`, in each row, until there may be more. Where nothing is due there is
-- one row, without a request. A silent sender's request is due again when its lease is over.
create or replace function take_queued_emails(p_paces jsonb, p_limit integer, p_lease interval)
returns table (
  next_ms float8, wait_ms float8, id uuid, lease uuid, idempotency_key text, request jsonb, deferral text, tried jsonb, deaths integer, refusals integer,
  age_ms float8, expires_in_ms float8
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_lanes smallint[];
  v_keys text[];
  v_due timestamptz;
  v_next timestamptz;
  v_left integer := p_limit;
  v_ids uuid[];
  v_setting text;
  p record; t record;
begin
  -- Until the commit. It is durable before its mail leaves: the claim of its key is committed later, and waits for the disk.
  v_setting := set_config('synchronous_commit', 'off', true);
  select array_agg(x.lane::smallint order by x.lane) into v_lanes
  from unnest(email_queue_lanes()) with ordinality as x(category, lane)
  where not exists (select from email_queue_pauses y where y.scope in ('*', x.category));
  for p in select * from jsonb_to_recordset(p_paces) as x(provider text, rate float8, least float8, most float8, "primary" boolean) loop
    exit when v_left = 0 or v_lanes is null;
    v_keys := case when p.primary then array['', p.provider] else array[p.provider] end;
    v_ids := '{}';
    -- A pace is asked, and locked, only where something is due.
    v_due := case when p.rate > 0 then first_due_email(v_keys, v_lanes) else v_now end;
    if v_due <= v_now then
      t := email_tokens(p.provider, p.rate, p.least, p.most, v_now);
      t.count := least(t.count, v_left);
      if t.count > 0 then
        v_ids := pick_queued_emails(v_keys, v_lanes, t.count, ((t.taken + t.count) / 8 - t.taken / 8)::integer, v_now);
      end if;
      if p.rate > 0 then
        v_next := least(v_next, greatest(v_now, t.first_at + cardinality(v_ids) * t.spacing));
      elsif v_ids = '{}' then
        v_due := first_due_email(v_keys, v_lanes);
      end if;
    end if;
    if v_due > v_now then
      v_next := least(v_next, v_due);
    end if;
    continue when v_ids = '{}';
    v_left := v_left - cardinality(v_ids);
    if p.rate > 0 then
      update email_pace x set
        free_at = least(greatest(x.free_at, t.first_at), v_now + interval '1 second') + cardinality(v_ids) * t.spacing,
        reserved_at = t.first_at + (cardinality(v_ids) + 3) * t.spacing,
        taken = x.taken + cardinality(v_ids)
      where x.provider = p.provider;
    end if;
    return query select null::float8, x.* from lease_queued_emails(v_ids, v_now, p_lease, t.first_at, t.spacing) as x;
  end loop;
  next_ms := case when v_next is not null then greatest(0, extract(epoch from v_next - clock_timestamp()) * 1000) end;
  return next;
end
$$;
