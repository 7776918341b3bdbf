-- The rank of a status: 1 to 6 for those that move forward, 100 for the terminal ones, null for anything else (EVENT-10).
-- Equals `statusRank` in the domain.
create or replace function email_status_rank(p_status text) returns integer
language plpgsql
immutable
parallel safe
strict
set search_path = pg_catalog, public, pg_temp
as $$
begin
  -- An SQL function with a search path of its own is not inlined, and costs ten times as much a call.
  return case p_status
    when 'deferred' then 1
    when 'sent' then 2
    when 'delivery_delayed' then 3
    when 'delivered' then 4
    when 'opened' then 5
    when 'clicked' then 6
    when 'suppressed' then 100
    when 'failed' then 100
    when 'bounced' then 100
    when 'complained' then 100
  end;
end
$$;
