-- Requests a function, without waiting for its answer: pg_net posts to `{functions_url}/{p_path}`. The address and the proxy
-- secret are read from the vault at every call, under the names `functions_url` and `proxy_shared_secret` (the functions'
-- PROXY_SHARED_SECRET); the setting `postlane.functions_url` may hold the address instead. Without them the call fails,
-- which `cron.job_run_details` shows.
create or replace function request_function(p_path text, p_timeout_ms integer) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_url text;
  v_secret text;
begin
  select s.decrypted_secret into v_url from vault.decrypted_secrets s where s.name = 'functions_url';
  v_url := coalesce(v_url, current_setting('postlane.functions_url', true));
  select s.decrypted_secret into v_secret from vault.decrypted_secrets s where s.name = 'proxy_shared_secret';
  if coalesce(v_url, '') = '' or coalesce(v_secret, '') = '' then
    raise exception 'the vault holds no functions_url or no proxy_shared_secret: % cannot be requested', p_path
      using errcode = '55000';
  end if;
  perform net.http_post(
    url := rtrim(v_url, '/') || '/' || p_path,
    body := '{}'::jsonb,
    headers := jsonb_build_object('content-type', 'application/json', 'x-proxy-secret', v_secret),
    timeout_milliseconds := p_timeout_ms
  );
end
$$;
