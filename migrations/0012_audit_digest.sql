-- The scheduled digest (document 1, "audit-digest"): who gets it, what became of each one, and its two cron jobs.

create table audit_digest_subscriptions (
  id uuid primary key default gen_random_uuid(),
  email text not null check (email <> ''),
  cadence text not null check (cadence in ('daily', 'weekly')),
  -- Null: the digest of the whole service, for admins. Else what concerns this customer and mail to this address, no more.
  customer_id uuid,
  active boolean not null default true,
  created_at timestamptz not null default now()
);

create index audit_digest_subscriptions_due on audit_digest_subscriptions (cadence, id) where active;

-- One row a subscription and period: the claim that keeps a digest from going out twice.
create table audit_digest_deliveries (
  subscription_id uuid not null references audit_digest_subscriptions (id) on delete cascade,
  cadence text not null check (cadence in ('daily', 'weekly')),
  period_start timestamptz not null,
  state text not null check (state in ('claimed', 'sent', 'suppressed', 'failed')),
  -- The run that works on it, or did last.
  owner text not null,
  lease_until timestamptz not null,
  claimed_at timestamptz not null,
  attempts integer not null default 1,
  -- The first attempt whose end nobody knows; null where every one has ended without a mail.
  uncertain_since timestamptz,
  -- The mail, byte for byte, as long as an attempt at it may have been accepted: the relay knows its key by this payload.
  request jsonb,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (subscription_id, cadence, period_start)
);

-- Claims the digest of one subscription and period for `p_owner`, with the mail that it is to send:
--
-- * `Claimed`: send `request`, which is an earlier attempt's where that one may have been accepted.
-- * `Settled`: it was sent or suppressed, or the subscription is gone.
-- * `Busy`: another run works on it, and its lease holds.
-- * `Waiting`: with `p_patient`, it failed lately; the wait doubles from two minutes up to six hours.
-- * `Unknown`: an attempt has no known end and is older than the 24 hours for which the relay remembers its key: sending
--   again could send twice (with `p_patient` it waits, for whoever asks by hand).
create function claim_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_lease_ms integer,
  p_patient boolean,
  p_request jsonb
)
returns table (decision text, request jsonb)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  r audit_digest_deliveries;
  v_now timestamptz;
  v_lease interval := p_lease_ms * interval '1 millisecond';
begin
  insert into audit_digest_deliveries as d
    (subscription_id, cadence, period_start, state, owner, lease_until, claimed_at, request)
  select s.id, p_cadence, p_period_start, 'claimed', p_owner, clock_timestamp() + v_lease, clock_timestamp(), p_request
  from audit_digest_subscriptions s
  where s.id = p_subscription_id
  for key share
  on conflict do nothing;
  if found then
    return query select 'Claimed', p_request;
    return;
  end if;

  select * into r from audit_digest_deliveries d
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
  for update;
  if not found then
    return query select 'Settled', null::jsonb;
    return;
  end if;

  v_now := clock_timestamp();
  request := null;
  if r.state in ('sent', 'suppressed') then
    decision := 'Settled';
  elsif r.state = 'claimed' and r.lease_until > v_now then
    decision := 'Busy';
  else
    if r.state = 'claimed' then
      r.uncertain_since := coalesce(r.uncertain_since, r.claimed_at);
    end if;
    if r.uncertain_since <= v_now - interval '24 hours' then
      decision := case when p_patient then 'Waiting' else 'Unknown' end;
    elsif p_patient and r.state = 'failed'
      and r.updated_at > v_now - least(power(2, least(r.attempts, 10)) * interval '1 minute', interval '6 hours') then
      decision := 'Waiting';
    else
      decision := 'Claimed';
      update audit_digest_deliveries d set
        state = 'claimed',
        owner = p_owner,
        lease_until = v_now + v_lease,
        claimed_at = v_now,
        attempts = d.attempts + 1,
        uncertain_since = r.uncertain_since,
        request = coalesce(d.request, p_request),
        updated_at = v_now
      where d.subscription_id = r.subscription_id and d.cadence = r.cadence and d.period_start = r.period_start
      returning d.request into request;
    end if;
  end if;
  return next;
end
$$;

-- Ends what `p_owner` holds; false where it holds it no more. `p_certain`: this attempt surely sent nothing.
create function settle_audit_digest(
  p_subscription_id uuid,
  p_cadence text,
  p_period_start timestamptz,
  p_owner text,
  p_state text,
  p_certain boolean,
  p_error text
)
returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  update audit_digest_deliveries d set
    state = p_state,
    uncertain_since = case
      when p_state <> 'failed' then null
      when p_certain then d.uncertain_since
      else coalesce(d.uncertain_since, d.claimed_at)
    end,
    request = case
      when p_state = 'failed' and not (p_certain and d.uncertain_since is null) then d.request
    end,
    error = p_error,
    updated_at = clock_timestamp()
  where d.subscription_id = p_subscription_id and d.cadence = p_cadence and d.period_start = p_period_start
    and d.owner = p_owner and d.state = 'claimed';
  return found;
end
$$;

-- What the cron jobs call: asks the function for one digest, without waiting for its answer. Address and secret are those of
-- the poll (`functions_url`, `proxy_shared_secret`) and are read from the vault at each run; without them the run fails,
-- which the log of the cron jobs shows.
create function request_audit_digest(p_cadence text) returns void
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
    raise exception 'the vault holds no functions_url or no proxy_shared_secret: the audit digest cannot be asked for'
      using errcode = '55000';
  end if;
  perform net.http_post(
    url := rtrim(v_url, '/') || '/audit-digest?cadence=' || p_cadence,
    body := '{}'::jsonb,
    headers := jsonb_build_object('content-type', 'application/json', 'x-proxy-secret', v_secret),
    timeout_milliseconds := 60000
  );
end
$$;

-- Schedules both digests where pg_cron, pg_net and a vault are there; true where it did. pg_cron's days begin at UTC. Where
-- they are missing, the leader of the Node processes runs the digests.
create function schedule_audit_digests() returns boolean
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
  using 'audit-digest-daily', '0 14 * * *', $job$select public.request_audit_digest('daily')$job$;
  execute $run$ select cron.schedule($1, $2, $3) $run$
  using 'audit-digest-weekly', '0 14 * * 1', $job$select public.request_audit_digest('weekly')$job$;
  return true;
end
$$;

do $$
begin
  perform schedule_audit_digests();
exception
  when insufficient_privilege then
    raise notice 'the digests could not be scheduled: run select schedule_audit_digests() as a role that may';
end
$$;

select secure_table('audit_digest_subscriptions');
select secure_table('audit_digest_deliveries');
select secure_function('claim_audit_digest(uuid, text, timestamptz, text, integer, boolean, jsonb)');
select secure_function('settle_audit_digest(uuid, text, timestamptz, text, text, boolean, text)');
select secure_function('request_audit_digest(text)');
select secure_function('schedule_audit_digests()');
