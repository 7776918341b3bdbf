-- Schedules the poll every 15 minutes and the digests; true where it did. pg_cron's days begin at UTC; a name that is
-- scheduled again replaces its job.
create or replace function schedule_functions() returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if to_regprocedure('cron.schedule(text,text,text)') is null
    or to_regclass('vault.decrypted_secrets') is null
    or to_regnamespace('net') is null
    or not exists (
      select from pg_proc p where p.pronamespace = to_regnamespace('net') and p.proname = 'http_post')
  then
    return false;
  end if;
  perform cron.schedule(x.name, x.schedule, format('select public.request_function(%L, %s)', x.path, x.timeout_ms))
  from (values
    ('provider-a-events-poll', '*/15 * * * *', 'provider-a-events-fetcher', 120000),
    ('audit-digest-daily', '0 14 * * *', 'audit-digest?cadence=daily', 60000),
    ('audit-digest-weekly', '0 14 * * 1', 'audit-digest?cadence=weekly', 60000)
  ) as x (name, schedule, path, timeout_ms);
  return true;
end
$$;
