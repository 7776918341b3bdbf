-- The poll of provider_a's list (document 1, "Poll rules").

-- How far the poll has come: what it read last, and what one run had no pages left for.
create table event_poll_positions (
  provider text primary key,
  newest_id text,
  newest_at timestamptz,
  -- Mails older than `gap_after`, down to `gap_until`, are not read yet. No `gap_until`: down to the end of the list.
  gap_after text,
  gap_until_id text,
  gap_until_at timestamptz,
  -- Rises with every change: of two runs at once, the one that saves second changes nothing.
  version bigint not null,
  updated_at timestamptz not null default now()
);

select secure_table('event_poll_positions');

-- Schedules the poll every 15 minutes where pg_cron, pg_net and a vault are there, that is on a hosted platform: pg_net
-- posts to `{functions_url}/provider-a-events-fetcher`. The address and the proxy secret are read from the vault at every
-- run, under the names `functions_url` and `proxy_shared_secret` (the functions' PROXY_SHARED_SECRET); the address may
-- stand in the setting `postlane.functions_url` instead. Without them a run fails, which `cron.job_run_details` shows.
-- True where it was scheduled.
create function schedule_event_poll() returns boolean
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
  -- A name that is scheduled again replaces its job.
  execute $run$ select cron.schedule($1, $2, $3) $run$
  using 'provider-a-events-poll', '*/15 * * * *', $job$
    do $do$
    declare
      v_url text := coalesce(
        (select s.decrypted_secret from vault.decrypted_secrets s where s.name = 'functions_url' limit 1),
        current_setting('postlane.functions_url', true));
      v_secret text := (
        select s.decrypted_secret from vault.decrypted_secrets s where s.name = 'proxy_shared_secret' limit 1);
    begin
      if coalesce(v_url, '') = '' or coalesce(v_secret, '') = '' then
        raise exception 'the vault holds no functions_url or no proxy_shared_secret: the poll cannot be asked for';
      end if;
      perform net.http_post(
        url := rtrim(v_url, '/') || '/provider-a-events-fetcher',
        body := '{}'::jsonb,
        headers := jsonb_build_object('content-type', 'application/json', 'x-proxy-secret', v_secret),
        timeout_milliseconds := 120000
      );
    end
    $do$
  $job$;
  return true;
end
$$;

select secure_function('schedule_event_poll()');

do $$
begin
  perform schedule_event_poll();
exception
  when insufficient_privilege then
    raise notice 'the poll of delivery events could not be scheduled: run select schedule_event_poll() as a role that may';
end
$$;
