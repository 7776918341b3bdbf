-- Brings every deferred outreach send that has ended to its end; returns how many. The leader calls it.
create or replace function settle_outreach_sends() returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
set enable_seqscan = off
as $$
declare
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    select s.id from email_sends s
    where s.status = 'deferred' and s.idempotency_key is not null
    for update skip locked
  loop
    if settle_outreach_send(v_id) then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end
$$;
