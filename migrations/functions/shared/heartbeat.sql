-- A piece of leased work is alive: an assembly, an inline conversion, a flyer or a mail; a chunk has its progress to report as well
-- (`heartbeat_chunk`). Keeps its hold for `p_window`. False: it was handed on or stopped, and has to end at once (DOC-13). Called by
-- `ConversionStore` and `IntakeStore`. Lock order: the work, customer, hold.
create or replace function heartbeat(p_kind text, p_id uuid, p_lease uuid, p_window interval) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- Holder of the funds: the work itself, or the conversion of a file.
  v_holder uuid := p_id;
begin
  case p_kind
    when 'assembly' then
      update large_conversion_jobs set heartbeat_at = clock_timestamp()
      where id = p_id and lease = p_lease and status = 'assembling';
    when 'inline' then
      update files set heartbeat_at = clock_timestamp()
      where id = p_id and lease = p_lease and status = 'processing' and deleted_at is null
      returning job_id into v_holder;
    when 'flyer' then
      update flyer_jobs set heartbeat_at = clock_timestamp()
      where id = p_id and lease = p_lease and status = 'processing';
    when 'mail' then
      update intake_mails set heartbeat_at = clock_timestamp()
      where id = p_id and lease = p_lease and step <> 'ended';
  end case;
  if not found then
    return false;
  end if;
  perform refresh_hold(v_holder, p_window);
  return true;
end
$$;
