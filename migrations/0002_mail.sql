-- Outbound mail: the send log, the suppression list, claims on idempotency keys, and the delayed retry queue.
-- Rules: docs/reference/specification/outbound-mail.md.


-- Words of the log

-- The rank of a status: 1 to 6 for those that move forward, 100 for the terminal ones, null for anything else (EVENT-10).
-- Equals `statusRank` in the domain.
create function email_status_rank(p_status text) returns integer
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

-- Whether the words of a log row belong to their closed sets (MAIL-6, MAIL-71, EVENT-10). One call, since a check with
-- lists of literals is parsed anew by every statement, which costs more than the insert.
create function email_log_words_are_known(p_category text, p_outcome text, p_status text, p_error_kind text)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_status in ('deferred', 'sent', 'delivery_delayed', 'delivered', 'opened', 'clicked',
      'suppressed', 'failed', 'bounced', 'complained')
    and p_category in ('auth', 'transactional', 'notification', 'alert', 'marketing', 'unknown')
    and (p_outcome is null or p_outcome in ('sent', 'deferred', 'suppressed', 'failed'))
    and (p_error_kind is null or p_error_kind in ('rejected', 'unavailable', 'ambiguous'));
end
$$;

-- Whether a row was accepted and ended without being delivered. Equals `isUndelivered` in the domain (EVENT-16).
create function email_is_undelivered(p_status text, p_error text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_error is not null and p_status in ('sent', 'delivery_delayed');
end
$$;

-- Whether this is a state of a claim. Equals the states of `Claim` in the domain.
create function is_email_claim_state(p_state text) returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_state in ('held', 'accepted', 'deferred', 'refused', 'ambiguous', 'ended');
end
$$;



-- Tables

-- The send log (MAIL-70 to MAIL-72). Status moves a row through its life and is indexed, so that updates are never
-- heap-only: no fill factor leaves room for them.
create table email_log (
  id uuid primary key default gen_random_uuid(),
  -- `unknown` where only delivery events wrote the row: mail that was sent outside the library.
  category text not null default 'unknown',
  source text,
  -- Bare addresses; recipients in lower case.
  from_address text,
  to_addresses text[] not null default '{}',
  -- Cc and Bcc.
  other_addresses text[] not null default '{}',
  -- Distinct addresses of both; null where only events wrote the row.
  recipient_count integer,
  subject text,
  -- The outcome that the library recorded; null where only events wrote the row.
  outcome text,
  status text not null,
  provider text,
  provider_message_id text,
  -- The latest event by occurrence, also where it did not move `status`; `raw` is that event as it came.
  last_event text,
  last_event_at timestamptz,
  raw jsonb,
  error text,
  error_kind text,
  failed_over boolean not null default false,
  cost_usd numeric,
  idempotency_key text,
  -- SHA-256 hex of the idempotency key; null where only events wrote the row and their tag names no key of this installation.
  key_hash text,
  -- What delivery events bring back as the tag `postlane_key`: one use of a key (MAIL-12). Of a row that only events wrote it may be
  -- another installation's, whose mail goes out through the same account: no row of ours has that one.
  key_tag text,
  -- The one alert about this mail is claimed (or, for backfill, never goes out: EVENT-32).
  alerted_at timestamptz,
  -- `reason:address` for each automatic suppression that this row's events asked for, so that an event that comes again
  -- does not bring back a suppression that was lifted; `reason:` alone waits for the row to name the recipient (EVENT-14).
  suppression_marks text[] not null default '{}',
  -- The id that the library asked for, where an event had made the row before: it makes the entry idempotent.
  entry_id uuid,
  -- When the row was written, not when its transaction began: of two writers of a key the one that waited is the newer.
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default now(),
  -- Recipients that were left out because they are suppressed (MAIL-62).
  dropped_addresses text[] not null default '{}',
  -- What a deferred attempt costs if it turns out to have been accepted (MAIL-72).
  accepted_cost_usd numeric,
  -- Only where the poll has seen the mail: the latest event that came by webhook (`received`), and the latest that the
  -- provider's list showed (`listed`), each an `email_account`. `last_event`, `last_event_at` and `raw` are one of the two.
  accounts jsonb,
  -- When the retry of a deferral is due.
  retry_at timestamptz,
  -- The attempts at providers behind the row (MAIL-74), each an `Attempt` of the domain; null where there was none. Not a
  -- table of their own: writing that costs a send a fifth more of the database's time.
  attempts jsonb,
  -- The span of the send as W3C writes it, where it was traced: spans of later events link to it.
  traceparent text,
  constraint email_log_words check (email_log_words_are_known(category, outcome, status, error_kind))
);

-- What the library says of one attempt, ready for its row: an entry of `record_email_sends`.
create type email_log_row as (
  ordinal integer, id uuid, category text, source text, from_address text, to_addresses text[], other_addresses text[],
  dropped_addresses text[], subject text, outcome text, error text, error_kind text, failed_over boolean, cost_usd numeric,
  accepted_cost_usd numeric, idempotency_key text, key_hash text, key_tag text, provider text, provider_message_id text,
  retry_at timestamptz, attempts jsonb, traceparent text
);

-- What an event says of a mail, and when: the shape of the two accounts.
create type email_account as (event text, moment timestamptz, raw jsonb);

create unique index email_log_provider_message on email_log (provider, provider_message_id);
create index email_log_key on email_log (key_hash, provider, created_at) where key_hash is not null;
-- Without the rows of ordinary sends, so that these pay nothing for it.
create index email_log_tag on email_log (key_tag) where key_tag is not null and outcome is distinct from 'sent';
create unique index email_log_entry on email_log (entry_id) where entry_id is not null;
-- Rows that events made and whose suppressions wait for the library's word on the recipients.
create index email_log_waiting on email_log (created_at)
  where outcome is null and suppression_marks && array['hard_bounce:', 'complaint:'];
-- Answers the statistics and the alarms by itself: what they count stands in it.
create index email_log_created on email_log (created_at desc, id desc)
  include (category, provider, status, failed_over, cost_usd);
-- Few rows: what was accepted and ended without being delivered (EVENT-16).
create index email_log_undelivered on email_log (created_at) include (category, provider, status)
  where error is not null and status in ('sent', 'delivery_delayed');
create index email_log_status on email_log (status, created_at desc, id desc);
create index email_log_category on email_log (category, created_at desc, id desc);
create index email_log_provider on email_log (provider, created_at desc, id desc);
-- The filter by recipient means all of them (EVENT-60). Queries repeat the expression as it is here.
create index email_log_recipient on email_log using gin ((to_addresses || other_addresses || dropped_addresses));

-- The filter by a part of the subject uses trigrams where the extension is available, else it reads the table (EVENT-60).
do $$
declare
  v_schema text;
begin
  begin
    create extension if not exists pg_trgm with schema public;
  exception
    when insufficient_privilege or undefined_file or feature_not_supported or invalid_parameter_value then
      raise notice 'extension pg_trgm is not available: the subject filter of the email log will read the table';
    when unique_violation then null;
  end;
  select n.nspname into v_schema
  from pg_extension x join pg_namespace n on n.oid = x.extnamespace
  where x.extname = 'pg_trgm';
  if v_schema is not null then
    execute format('create index email_log_subject on email_log using gin (subject %I.gin_trgm_ops)', v_schema);
  end if;
end
$$;

-- Addresses that the library does not mail (MAIL-60, MAIL-61).
create table email_suppressions (
  email text not null check (email = lower(email collate "C") and email <> ''),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  note text,
  created_at timestamptz not null default now(),
  primary key (email, reason)
);

create index email_suppressions_created on email_suppressions (created_at desc, email, reason);
create index email_suppressions_reason on email_suppressions (reason, created_at desc, email);

create trigger email_suppressions_address before insert or update of email on email_suppressions
for each row when (new.email <> lower(trim_address(new.email) collate "C")) execute function address_in_lower_case();

-- Suppressions of erased people (P3). SHA-256 of the address: it can be recognised, not read.
create table erased_suppressions (
  address_hash bytea not null check (octet_length(address_hash) = 32),
  reason text not null check (reason in ('hard_bounce', 'complaint', 'manual')),
  created_at timestamptz not null default now(),
  primary key (address_hash, reason)
);

-- Claims on idempotency keys that callers chose, and leases of retries (MAIL-40 to MAIL-44). Mirrors `Claim` in the domain.
create table email_send_claims (
  key_hash text primary key,
  -- Empty where a retry made the claim: any payload fits.
  payload_hash text not null,
  state text not null check (is_email_claim_state(state)),
  provider text not null,
  ambiguous boolean not null,
  -- A request may have left; false where its holder has to say so first.
  leaving boolean not null default true,
  owner text not null,
  -- Null where no attempt is under way.
  lease_until timestamptz,
  first_attempt_at timestamptz not null,
  -- No attempt of this use of the key can have been accepted later: the key is held for 24 hours from then on.
  last_attempt_at timestamptz not null default clock_timestamp(),
  -- What the requests of this use carry; null where they carry no tag.
  tag text,
  result jsonb,
  updated_at timestamptz not null default now()
) with (fillfactor = 70);

create index email_send_claims_first_attempt on email_send_claims (first_attempt_at);
create index email_send_claims_tag on email_send_claims (tag) where tag is not null;

-- One of the two pads of an HMAC's key: each byte of the secret, filled up to SHA-256's block of 64, xor `p_byte`.
create function email_tag_pad(p_secret bytea, p_byte integer) returns bytea
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_pad bytea := p_secret || decode(repeat('00', 64 - octet_length(p_secret)), 'hex');
begin
  for v_at in 0 .. 63 loop
    v_pad := set_byte(v_pad, v_at, get_byte(v_pad, v_at) # p_byte);
  end loop;
  return v_pad;
end
$$;

-- The secret of the installation, that its tags are made with (MAIL-12): kept here and nowhere else. Claims and rows keep the tags
-- that they were made with, so that it may be replaced at any time.
create table email_tag_secrets (
  id smallint primary key default 1 check (id = 1),
  secret bytea not null check (octet_length(secret) = 32),
  inner_pad bytea not null generated always as (email_tag_pad(secret, 54)) stored,
  outer_pad bytea not null generated always as (email_tag_pad(secret, 92)) stored,
  created_at timestamptz not null default now()
);

-- Two random UUIDs: 244 bits of the server's strong randomness.
insert into email_tag_secrets (secret)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- The tag of one use of a key: HMAC-SHA-256 over its hash and the id of the use, which is its claim's: `first`, where nothing is known of
-- an earlier use, else the owner that claimed it. Equals `makeUseTag` in the domain.
create function email_use_tag(p_key_hash text, p_use text) returns text
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return (
    select encode(sha256(x.outer_pad || sha256(x.inner_pad || convert_to(p_key_hash || ' ' || p_use, 'UTF8'))), 'hex')
    from email_tag_secrets x
  );
end
$$;

-- Sends that went out without look-up and claim since the database did not answer (MAIL-45), as their processes told it afterwards.
create table email_unclaimed_sends (
  noted_at timestamptz not null default now(),
  count integer not null check (count > 0)
);

create index email_unclaimed_sends_noted on email_unclaimed_sends (noted_at);

-- Notes such sends, for the alarm about them, and forgets those of earlier days. Called by `MailStore`.
create function note_unclaimed_email_sends(p_count integer) returns void
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  delete from email_unclaimed_sends where noted_at < now() - interval '1 day';
  insert into email_unclaimed_sends (count) values (p_count)
$$;

-- The delayed retry queue where there is no SQS (MAIL-50): what Effect's PersistedQueue (effect 4.1.0) makes for the table
-- name `email_defer_queue`, with its two upgrades marked as applied, so that at run time its own migrator finds nothing
-- to do and the service role needs no right to create tables. Its times are without a zone: sessions run in UTC.
create table email_defer_queue (
  sequence bigserial primary key,
  id varchar(255) not null,
  queue_name varchar(255) not null,
  element text not null,
  attempts integer not null default 0,
  last_failure text,
  acquired_at timestamp,
  acquired_by uuid,
  created_at timestamp not null,
  updated_at timestamp not null,
  state varchar(10) not null,
  visible_at timestamp not null
);

create unique index idx_email_defer_queue_id on email_defer_queue (id, queue_name);
create index idx_email_defer_queue_update on email_defer_queue (sequence, acquired_by);
create index idx_email_defer_queue_take on email_defer_queue (queue_name, visible_at) where state = 'pending';

create table email_defer_queue_migrations (
  migration_id integer primary key,
  created_at timestamptz not null default now(),
  name text not null
);

insert into email_defer_queue_migrations (migration_id, name) values (1, 'create_table'), (2, 'upgrade_schema');


-- Addresses

-- The bare lower-case address of `a@x.test` or `Name <A@x.test>`.
create function email_bare_address(p_address text) returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return nullif(lower(trim_address(case
    when position('<' in p_address) = 0 then p_address
    else coalesce(substring(trim_address(p_address) from '<([^<>]*)>$'), p_address)
  end)), '');
end
$$;

-- The bare lower-case addresses of one address or a list of them, as JSON, in their order.
create function email_addresses(p_value jsonb) returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_plain text[];
  v_joined text;
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}';
      elsif jsonb_array_length(p_value) = 1 then
        v_plain := array[p_value ->> 0];
      else
        v_plain := array(select jsonb_array_elements_text(p_value));
      end if;
    when 'string' then v_plain := array[p_value #>> '{}'];
    else return '{}';
  end case;
  -- Postlane's own callers pass them bare and in lower case.
  v_joined := array_to_string(v_plain, ',', '');
  if v_joined = lower(v_joined) and v_joined !~ '[<>\s]|(^|,)(,|$)' then
    return v_plain;
  end if;
  return array(
    select email_bare_address(x.address)
    from unnest(v_plain) with ordinality as x(address, position)
    where email_bare_address(x.address) is not null
    order by x.position
  );
end
$$;

-- How many different addresses there are.
create function email_distinct_count(p_addresses text[]) returns integer
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if coalesce(cardinality(p_addresses), 0) < 2 then
    return coalesce(cardinality(p_addresses), 0);
  end if;
  return (select count(distinct x.address) from unnest(p_addresses) as x(address));
end
$$;

-- The hash by which the address of an erased person is recognised (P3).
create function address_hash(p_email text) returns bytea
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select sha256(convert_to(p_email, 'UTF8'))
$$;

-- What replaces the address of an erased person in rows that stay.
create function erased_alias(p_email text) returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select 'erased:' || encode(address_hash(p_email), 'hex')
$$;


-- Suppression

-- Suppressions of these addresses, those of erased people among them, and who unsubscribed (`unsubscribed`, MAIL-65), as JSON:
-- [{ "email", "reason" }]. Every path that decides about a send reads the tables through this function (MAIL-60). It uses the indexes whatever the statistics say
-- of a table that grew quickly. Called by `MailStore` and `IntakeStore`, and where a key is claimed.
create function email_suppressions_of(p_addresses text[]) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  -- An SQL function would be planned anew for every send.
  return coalesce(
    (
      select jsonb_agg(jsonb_build_object('email', s.email, 'reason', s.reason))
      from (
        select x.email, x.reason from email_suppressions x where x.email = any (p_addresses)
        union
        select a.email, e.reason
        from unnest(p_addresses) as a(email) join erased_suppressions e on e.address_hash = address_hash(a.email)
        union
        select a.email, 'unsubscribed'
        from unnest(p_addresses) as a(email) join unsubscribes u on u.email in (a.email, erased_alias(a.email))
      ) as s
    ),
    '[]'
  );
end
$$;

-- Those of the addresses whose person was erased since mail was asked for on the key (MAIL-66): its rows name them by a hash. A key
-- without a row – the log was away – shows nothing, and the last day of the audit log does.
create function email_erased_of(p_key_hash text, p_addresses text[]) returns text[]
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_named text[];
begin
  select array_agg(x.address) into v_named
  from email_log l, unnest(l.to_addresses || l.other_addresses || l.dropped_addresses) as x(address)
  where l.key_hash = p_key_hash and l.created_at >= coalesce(
    (select c.first_attempt_at from email_send_claims c where c.key_hash = p_key_hash), '-infinity');
  return array(
    select distinct a.email from unnest(p_addresses) as a(email)
    where erased_alias(a.email) = any (v_named) or v_named is null and exists (
      select from admin_audit_log x
      where x.created_at > clock_timestamp() - interval '24 hours' and x.action = 'person_erased'
        and x.target = erased_alias(a.email)
    )
  );
end
$$;

-- The entries of `record_email_sends`, those of retries without the people who were erased meanwhile: their rows name them as the
-- others of the key do, and hold nothing of the mail.
create function without_erased_people(p_entries jsonb) returns jsonb
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_entry jsonb;
  v_name text;
  v_gone text[];
  v_all jsonb := '[]';
begin
  for v_entry in select x.value from jsonb_array_elements(p_entries) as x loop
    if v_entry -> 'settle' -> 'isRetry' = 'true' then
      v_gone := email_erased_of(v_entry ->> 'key_hash', email_addresses(v_entry -> 'to')
        || email_addresses(v_entry -> 'others') || email_addresses(v_entry -> 'dropped'));
      if v_gone <> '{}' then
        foreach v_name in array array['to', 'others', 'dropped'] loop
          v_entry := jsonb_set(v_entry, array[v_name], to_jsonb(array(
            select case when x.address = any (v_gone) then erased_alias(x.address) else x.address end
            from unnest(email_addresses(v_entry -> v_name)) with ordinality as x(address, place)
            order by x.place
          )));
        end loop;
        v_entry := v_entry || jsonb_build_object(
          'subject', null, 'error', error_without_person(v_entry ->> 'error'),
          'attempts', attempts_without_person(v_entry -> 'attempts'),
          -- The claim keeps the first call's result, which names nobody any more.
          'settle', (v_entry -> 'settle') - 'result');
      end if;
    end if;
    v_all := v_all || jsonb_build_array(v_entry);
  end loop;
  return v_all;
end
$$;

-- What is left of a row's error, which may quote the address or what a server says of its owner.
create function error_without_person(p_error text) returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select case when p_error like 'Recipient suppressed: %' then p_error when p_error is not null then 'the person was erased' end
$$;

-- What is left of a row's attempts.
create function attempts_without_person(p_attempts jsonb) returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
  select jsonb_agg(x.value || '{"reason": null}' order by x.place)
  from jsonb_array_elements(case jsonb_typeof(p_attempts) when 'array' then p_attempts end) with ordinality as x(value, place)
$$;

-- A queue's text as JSON; null where it is none.
create function json_or_null(p_text text) returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return p_text::jsonb;
exception when invalid_text_representation then
  return null;
end
$$;

-- The part of `erase_person` that is about the retry queue; returns whether anything was found. A retry that waits for this person
-- alone, and every dead letter that names them, ends here: its row is `suppressed`, or `failed` where somebody else would have got
-- the mail, and its text is gone. One that is under way, or has other recipients, looks again before it sends (MAIL-66).
create function erase_deferred_person(p_email text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  q record;
  v_details jsonb;
  v_others boolean;
  v_tag text;
  v_ended jsonb := '[]';
  v_found boolean := false;
begin
  for q in
    select x.sequence, x.state, x.acquired_by is not null and x.visible_at > now() as taken, json_or_null(x.element) as message
    from email_defer_queue x where position(p_email in lower(x.element)) > 0
    order by x.sequence for update
  loop
    v_details := q.message -> 'details';
    continue when q.message is not null and not coalesce(
      p_email = any (email_addresses(v_details -> 'to') || email_addresses(v_details -> 'others')), false);
    v_found := true;
    if q.state = 'completed' then
      update email_defer_queue set element = '{}' where sequence = q.sequence;
      continue;
    end if;
    v_others := exists (select from unnest(email_addresses(v_details -> 'to')) as x(address) where x.address <> p_email);
    continue when q.state <> 'failed' and (q.taken or v_others);
    delete from email_defer_queue where sequence = q.sequence;
    -- What an earlier version queued carries the hash of the key.
    v_tag := v_details ->> case when v_details ? 'keyTag' then 'keyTag' else 'keyHash' end;
    if v_details ->> 'keyHash' is not null
      and not exists (select from find_email_evidence(
        v_details ->> 'keyHash', v_tag, to_timestamp((q.message ->> 'firstAttemptAt')::float8 / 1000.0)))
    then
      v_ended := v_ended || jsonb_build_array(jsonb_build_object(
        'id', q.message ->> 'rowId', 'category', v_details ->> 'category', 'source', v_details ->> 'source',
        'from', v_details ->> 'from', 'to', v_details -> 'to', 'others', v_details -> 'others',
        'dropped', coalesce(v_details -> 'dropped', '[]') || to_jsonb(p_email),
        'idempotency_key', v_details ->> 'idempotencyKey', 'key_hash', v_details ->> 'keyHash', 'key_tag', v_tag,
        'provider', q.message -> 'request' ->> 'provider', 'failed_over', q.message -> 'failedOver'
      ) || case when v_others
        then '{"outcome": "failed", "error_kind": "ambiguous", "error": "the person was erased"}'::jsonb
        else '{"outcome": "suppressed", "error": "Recipient suppressed: erased; an earlier attempt may have been accepted"}'
      end);
    end if;
  end loop;
  if v_ended <> '[]' then
    perform record_email_sends(v_ended);
  end if;
  return v_found;
end
$$;

-- Adds automatic suppressions, each `reason:address`, in an order that all writers share (EVENT-14). The row of an erased
-- person's mail names the hash of the address, and its suppression is kept by that hash.
create function add_email_suppressions(p_marks text[], p_note text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  insert into erased_suppressions (address_hash, reason)
  select distinct decode(substring(x.mark from ':erased:([0-9a-f]{64})$'), 'hex') as address_hash,
    substring(x.mark for position(':' in x.mark) - 1) as reason
  from unnest(p_marks) as x(mark)
  where x.mark ~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by address_hash, reason
  on conflict do nothing;
  insert into email_suppressions (email, reason, note)
  select distinct
    substring(x.mark from position(':' in x.mark) + 1) as email,
    substring(x.mark for position(':' in x.mark) - 1) as reason,
    p_note
  from unnest(p_marks) as x(mark)
  where x.mark !~ '^[a-z_]+:erased:[0-9a-f]{64}$'
  order by email, reason
  on conflict (email, reason) do nothing;
end
$$;


-- A send: claim the key, move the claim, record the outcome

-- The number of the transaction lock that orders an early event and a deferral of the same use of a key: of its tag, or of the key
-- where its requests carry none.
create function email_key_lock(p_name text) returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, public, pg_temp
as $$
begin
  return hashtextextended('postlane.email_key ' || p_name, 0);
end
$$;

-- Evidence that a provider accepted an attempt of one use of a key (MAIL-52), whichever it was: the newest row with a message id that
-- carries the tag of that use, or that the library wrote for the key since the use's first attempt, or that an event made of such a
-- row's mail; else the claim that says so. A key that is used anew has a claim of its own: what is older, or carries the tag of
-- another use or installation, proves nothing about it. Called by `MailStore`, and by the two functions below that begin an attempt.
--
-- A send that found no claim store has a tag of its own, and so has no claim here. `p_first` is its first attempt by its process's
-- clock, where it has no row yet. Two uses of a key are 24 hours apart at least, whatever claims bind them: the rows of the 24
-- hours around belong to the same one (less ten minutes, for clocks that differ).
create function find_email_evidence(p_key_hash text, p_tag text, p_first timestamptz default null)
returns table (provider text, provider_message_id text)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  -- Each apart, so that the index of the key or of the tag serves it and no other one does, whatever the statistics say.
  with mine as materialized (
    select l.id, l.provider, l.provider_message_id, l.created_at, l.outcome, l.key_tag
    from email_log l where l.key_hash = p_key_hash
  ), tagged as materialized (
    select l.id, l.provider, l.provider_message_id, l.created_at
    from email_log l
    where l.key_tag = p_tag and l.outcome is distinct from 'sent' and l.key_hash is null
  ), bound as materialized (
    select c.* from email_send_claims c where c.key_hash = p_key_hash
  ), use as (
    select
      coalesce(c.at, own.at - interval '23 hours 50 minutes') as since,
      case when c.at is null then own.at + interval '23 hours 50 minutes' else 'infinity' end as until,
      coalesce(c.at, own.at) - interval '23 hours 50 minutes' as tag_since
    from (
      -- A later use without a claim carries the first one's tag.
      select coalesce((select p_first - b.last_attempt_at >= interval '24 hours' from bound b), false) as is_over
    ) as v
    cross join (
      select coalesce(
        (
          select min(m.created_at) from mine m
          where m.outcome is not null and m.key_tag is not distinct from p_tag
            and m.created_at > coalesce(p_first - interval '23 hours 50 minutes', '-infinity')
        ), p_first) as at
    ) as own
    left join (select b.first_attempt_at as at from bound b where b.tag is not distinct from p_tag) as c on not v.is_over
  ), claim as (
    select b.* from bound b, use u where b.first_attempt_at >= u.since and b.first_attempt_at < u.until
  ), written as (
    select m.id, m.key_tag from mine m, use u where m.outcome is not null and m.created_at >= u.since and m.created_at < u.until
  ), proof as (
    select m.id, m.provider, m.provider_message_id, m.created_at
    from mine m, use u
    where m.id in (select w.id from written w)
      or (
        m.created_at >= u.tag_since
        and (m.key_tag = p_tag or m.key_tag in (select w.key_tag from written w union all select c.tag from claim c))
      )
    union all
    select t.id, t.provider, t.provider_message_id, t.created_at from tagged t, use u
    where t.created_at >= u.tag_since
  )
  (
    select p.provider, p.provider_message_id from proof p
    where p.provider_message_id is not null
    order by p.created_at desc, p.id desc
    limit 1
  )
  union all
  select c.result ->> 'provider', c.result ->> 'providerMessageId' from claim c
  where c.state = 'accepted' and c.result ->> 'provider' is not null and c.result ->> 'providerMessageId' is not null
    and not exists (select from proof p where p.provider_message_id is not null)
$$;

-- What is known of a key that no claim binds (a call that found no claim store left only its rows): the provider and the tag of the
-- newest row of the last 24 hours that proves acceptance, else of the newest that leaves it open, and when the first and the last of
-- them were written (rows of the library, and what an event made of the mail of one of these); else what the calling process
-- remembers, `p_known` { provider, tag, ageMs, lastAgeMs, isSettled }. No row where there is neither.
create function find_email_trail(p_key_hash text, p_known jsonb)
returns table (provider text, since timestamptz, last timestamptz, tag text)
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  -- Apart, for the same reason.
  with mine as materialized (select l.* from email_log l where l.key_hash = p_key_hash),
  recent as materialized (
    select m.* from mine m where m.created_at > clock_timestamp() - interval '24 hours'
  ),
  left_open as materialized (
    select r.provider, r.created_at, r.id, r.key_tag, r.provider_message_id from recent r
    where r.provider is not null
      and (r.outcome is not null or r.key_tag in (select x.key_tag from recent x where x.outcome is not null))
      and (r.provider_message_id is not null or r.status = 'deferred'
        -- An end without an attempt says nothing of its own: a call that came a day too late, or whose claim could not be moved.
        or (r.status = 'failed' and r.error_kind = 'ambiguous' and jsonb_array_length(coalesce(r.attempts, '[]')) > 0))
  )
  (
    select o.provider, (select min(x.created_at) from left_open x), (select max(x.created_at) from left_open x), o.key_tag
    from left_open o
    order by o.provider_message_id is not null desc, o.created_at desc, o.id desc
    limit 1
  )
  union all
  select
    p_known ->> 'provider', clock_timestamp() - make_interval(secs => (p_known ->> 'ageMs')::float8 / 1000.0),
    clock_timestamp() - make_interval(secs => (p_known ->> 'lastAgeMs')::float8 / 1000.0),
    p_known ->> 'tag'
  where p_known ->> 'provider' is not null and not exists (select from left_open)
$$;

-- Claims keys and looks up suppressions, several in one call (MAIL-1, MAIL-41 to MAIL-43); `ordinal` counts the entries
-- from 1. Called by `MailStore`. Keys of an entry: key_hash, addresses, payload_hash, provider, owner (unique to the call),
-- lease_ms, tag (of the key's first use; made here where it is absent), known (what the calling process remembers of the key).
--
-- `decision` is that of `decideClaim` in the domain, taken under the key's row lock and by this clock:
--   Claimed     the key is held for the owner; `sticky` is the only provider that may see it, `takeover` that an attempt
--               on it left no result, `late` that its first attempt, at `first_attempt_at` (milliseconds of the epoch), is 24 hours
--               old, `tag` what its requests carry, `evidence` { provider, providerMessageId } that an earlier attempt was accepted.
--               `last_attempt_at` is the last attempt before this call's: it stays that where nobody is asked (`late`, `evidence`).
--   Replay      `result` is the first call's.
--   Conflict, InProgress
-- The same owner asking again (its first answer was lost) is answered `Claimed` again.
--
-- `leaving`: the claim says already that the request leaves. It does so where the look-up found no suppression, since nothing then
-- keeps the request in the process; else `move_email_claim` says it.
--
-- Locks claims in the order of their keys. It looks up by key alone, whatever the tables' statistics say: its plan may be
-- older than most of their rows.
create function begin_email_sends(p_entries jsonb)
returns table (
  ordinal integer, decision text, sticky text, takeover boolean, late boolean, first_attempt_at float8, last_attempt_at float8, tag text, result jsonb,
  evidence jsonb, leaving boolean, suppressions jsonb
)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  e record;
  c email_send_claims;
  v_now timestamptz;
  v_lease timestamptz;
  v_leased boolean;
  v_expired boolean;
  v_since timestamptz;
  v_last timestamptz;
  v_before timestamptz;
  v_owned boolean;
  v_new bigint[];
  v_all jsonb;
begin
  -- One look-up for all of them: few batches hold an address that is suppressed.
  v_all := email_suppressions_of(
    array(select unnest(email_addresses(x.addresses)) from jsonb_to_recordset(p_entries) as x(addresses jsonb)));
  -- Keys that neither a claim nor a row of the log nor the calling process knows are claimed, in the order of the loop below; the
  -- keys of other entries are locked at their place in it (the update that never happens), so that all callers lock in one order.
  -- Where a row of the log knows a key that no claim binds, nothing is claimed here.
  v_now := clock_timestamp();
  with entry as materialized (
    select distinct on (x.key_hash) x.*
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    order by x.key_hash, x.ord
  ), claimed as (
    insert into email_send_claims as c (
      key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
    )
    select
      x.key_hash, x.payload_hash, 'held', x.provider, false,
      v_all = '[]' or email_suppressions_of(email_addresses(x.addresses)) = '[]',
      x.owner, v_now + make_interval(secs => x.lease_ms / 1000.0), v_now,
      v_now + make_interval(secs => x.lease_ms / 1000.0), coalesce(x.tag, email_use_tag(x.key_hash, 'first'))
    from entry x
    where not exists (
      select from entry y
      -- Not `exists`, which would be made a join: with statistics from before there were keys it reads the log's whole index.
      where (y.known is not null or (select true from email_log l where l.key_hash = y.key_hash limit 1))
        and (select true from email_send_claims k where k.key_hash = y.key_hash) is null
    )
    order by x.key_hash
    on conflict (key_hash) do update set updated_at = c.updated_at where false
    returning c.key_hash
  )
  select array_agg(x.ord) into v_new from entry x where (x.key_hash in (select claimed.key_hash from claimed)) is true;

  if v_new is not null then
    return query
    select
      x.ord::integer, 'Claimed', null::text, false, false, (extract(epoch from v_now) * 1000)::float8, (extract(epoch from v_now) * 1000)::float8,
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')), null::jsonb, null::jsonb, s.found = '[]', s.found
    from rows from (jsonb_to_recordset(p_entries) as (key_hash text, tag text, addresses jsonb))
      with ordinality as x(key_hash, tag, addresses, ord),
      lateral (select case v_all when '[]' then v_all else email_suppressions_of(email_addresses(x.addresses)) end) as s(found)
    where x.ord = any (v_new);
    if cardinality(v_new) = jsonb_array_length(p_entries) then
      return;
    end if;
  end if;

  for e in
    select
      x.ord, x.key_hash, x.payload_hash, x.provider, x.owner, make_interval(secs => x.lease_ms / 1000.0) as lease,
      coalesce(x.tag, email_use_tag(x.key_hash, 'first')) as tag, x.known,
      case v_all when '[]' then v_all else email_suppressions_of(email_addresses(x.addresses)) end as suppressions
    from rows from (jsonb_to_recordset(p_entries) as (
      key_hash text, addresses jsonb, payload_hash text, provider text, owner text, lease_ms float8, tag text, known jsonb
    )) with ordinality as x(key_hash, addresses, payload_hash, provider, owner, lease_ms, tag, known, ord)
    where v_new is null or x.ord <> all (v_new)
    order by x.key_hash, x.ord
  loop
    ordinal := e.ord;
    loop
      decision := 'Claimed';
      sticky := null;
      takeover := false;
      late := false;
      result := null;
      evidence := null;
      tag := e.tag;
      leaving := e.suppressions = '[]';
      v_since := null;
      v_before := null;
      v_owned := false;
      v_now := clock_timestamp();
      if not exists (select from email_send_claims x where x.key_hash = e.key_hash) then
        select t.provider, t.since, t.last, t.tag into sticky, v_since, v_before, tag from find_email_trail(e.key_hash, e.known) as t;
        if not found then
          -- Of the refusals of the last 24 hours, as long as nothing was accepted; else of a use of its own, where the key was used.
          select l.key_tag into tag from email_log l
          where l.key_hash = e.key_hash and l.outcome is not null
            and l.created_at > clock_timestamp() - interval '24 hours'
          order by l.created_at desc, l.id desc
          limit 1;
          if tag is null then
            tag := case when exists (select from email_log l where l.key_hash = e.key_hash)
              then email_use_tag(e.key_hash, e.owner) else e.tag end;
          end if;
        end if;
      end if;
      takeover := sticky is not null;
      late := coalesce(v_now - v_since >= interval '24 hours', false);
      insert into email_send_claims (
        key_hash, payload_hash, state, provider, ambiguous, leaving, owner, lease_until, first_attempt_at, last_attempt_at, tag
      ) values (
        e.key_hash, e.payload_hash, 'held', coalesce(sticky, e.provider), takeover, leaving, e.owner, v_now + e.lease,
        coalesce(v_since, v_now), case when late or sticky <> 'provider_a' then coalesce(v_before, v_now) else v_now + e.lease end, tag
      )
      on conflict (key_hash) do nothing;
      if found then
        v_before := coalesce(v_before, v_now);
        first_attempt_at := extract(epoch from coalesce(v_since, v_now)) * 1000;
        exit;
      end if;

      select * into c from email_send_claims x where x.key_hash = e.key_hash for update;
      continue when not found; -- Purged since.
      v_now := clock_timestamp();
      v_lease := v_now + e.lease;
      v_leased := coalesce(v_now < c.lease_until, false);
      sticky := null;
      takeover := false;
      tag := c.tag;
      late := v_now - c.first_attempt_at >= interval '24 hours';
      v_before := c.last_attempt_at;
      v_last := case when late then c.last_attempt_at else v_lease end;
      first_attempt_at := extract(epoch from c.first_attempt_at) * 1000;

      if c.state = 'held' and c.owner = e.owner then
        sticky := case when c.ambiguous then c.provider end;
        takeover := c.ambiguous;
        leaving := c.leaving;
        v_owned := true;
        update email_send_claims x set lease_until = v_lease, last_attempt_at = v_last, updated_at = now()
        where x.key_hash = e.key_hash;
        exit;
      end if;

      -- `isFree` in the domain.
      if c.state = 'refused' or (not v_leased and (v_now - c.last_attempt_at >= interval '24 hours'
        or (c.state = 'held' and not c.leaving and not c.ambiguous)))
      then
        v_since := null;
        v_before := null;
        v_expired := not v_leased and v_now - c.last_attempt_at >= interval '24 hours';
        select t.provider, t.since, t.last, t.tag into sticky, v_since, v_before, tag from find_email_trail(e.key_hash, e.known) as t;
        if not found and not v_expired then
          -- No mail carries the tag of a use of which nothing was accepted: it goes on to be the key's. What has evidence all the same
          -- was sent under that tag by a call that found no claim store.
          tag := coalesce(c.tag, email_use_tag(e.key_hash, e.owner));
          select x.provider, c.first_attempt_at, c.last_attempt_at into sticky, v_since, v_before
          from find_email_evidence(e.key_hash, c.tag) as x;
          if found then
            tag := c.tag;
          end if;
        elsif sticky is null then
          tag := email_use_tag(e.key_hash, e.owner);
        end if;
        takeover := sticky is not null;
        late := coalesce(v_now - v_since >= interval '24 hours', false);
        v_before := coalesce(v_before, v_now);
        update email_send_claims x set
          payload_hash = e.payload_hash, state = 'held', provider = coalesce(sticky, e.provider),
          ambiguous = takeover, leaving = e.suppressions = '[]', owner = e.owner, lease_until = v_lease,
          first_attempt_at = coalesce(v_since, v_now),
          last_attempt_at = case when late or sticky <> 'provider_a' then v_before else v_lease end,
          tag = begin_email_sends.tag, result = null, updated_at = now()
        where x.key_hash = e.key_hash;
        first_attempt_at := extract(epoch from coalesce(v_since, v_now)) * 1000;
        exit;
      end if;

      if c.payload_hash <> '' and c.payload_hash <> e.payload_hash then
        decision := 'Conflict';
        exit;
      end if;
      if c.result is not null and c.state in ('accepted', 'deferred') then
        decision := 'Replay';
        result := c.result;
        exit;
      end if;
      if v_leased then
        decision := 'InProgress';
        exit;
      end if;
      if c.result is not null and (c.state = 'ended' or c.provider <> 'provider_a' or late)
        and not exists (select from find_email_evidence(e.key_hash, c.tag))
      then
        decision := 'Replay';
        result := c.result;
        exit;
      end if;
      sticky := c.provider;
      takeover := c.result is null;
      update email_send_claims x set
        payload_hash = e.payload_hash, state = 'held', ambiguous = true, leaving = e.suppressions = '[]', owner = e.owner,
        lease_until = v_lease, result = null, updated_at = now(),
        -- Where it is deferred nobody is asked now (`continuation` in the domain).
        last_attempt_at = case when takeover and c.provider <> 'provider_a' then c.last_attempt_at else v_last end
      where x.key_hash = e.key_hash;
      exit;
    end loop;

    last_attempt_at := extract(epoch from v_before) * 1000;
    if decision = 'Claimed' then
      suppressions := e.suppressions;
      if sticky is not null then
        select jsonb_build_object('provider', x.provider, 'providerMessageId', x.provider_message_id) into evidence
        from find_email_evidence(e.key_hash, tag) as x;
        if not v_owned and (evidence is not null or (e.known -> 'isSettled')::boolean) then
          update email_send_claims x set last_attempt_at = v_before where x.key_hash = e.key_hash;
        end if;
      end if;
    else
      suppressions := '[]';
      sticky := null;
      takeover := false;
      leaving := false;
    end if;
    return next;
  end loop;
end
$$;

-- Notes that a request of the call that holds a claim leaves now, to this provider; false where it no longer holds it, or where a send
-- without a claim has been accepted meanwhile or left the key open, which then is the claim's own doubt. Called by `MailStore` before a fail-over (MAIL-31), and
-- before a first attempt where `begin_email_sends` did not say so.
create function move_email_claim(p_key_hash text, p_owner text, p_provider text) returns boolean
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  c email_send_claims;
  v_open text;
begin
  select * into c from email_send_claims x
  where x.key_hash = p_key_hash and x.owner = p_owner and x.state = 'held' for update;
  if not found or (c.ambiguous and c.provider <> p_provider) or exists (select from find_email_evidence(p_key_hash, c.tag)) then
    return false;
  end if;
  -- What a send without a claim has left open since binds this one, too, and the calls after it (S2).
  select l.provider into v_open from email_log l
  where l.key_hash = p_key_hash and l.created_at >= c.first_attempt_at
    and l.provider is not null and (l.provider <> p_provider or not c.ambiguous)
    -- An end without an attempt says nothing of its own.
    and (l.outcome = 'deferred' or (l.outcome = 'failed' and l.error_kind = 'ambiguous'
      and jsonb_array_length(coalesce(l.attempts, '[]')) > 0))
  order by l.created_at desc, l.id desc
  limit 1;
  if found then
    update email_send_claims x set
      provider = case when x.ambiguous then x.provider else v_open end, ambiguous = true, updated_at = now()
    where x.key_hash = p_key_hash;
    return false;
  end if;
  update email_send_claims x set provider = p_provider, leaving = true, updated_at = now() where x.key_hash = p_key_hash;
  return true;
end
$$;

-- Writes the rows of entries in their order, but for those that have a row already; returns the ids of what it wrote.
-- Called by `record_email_sends`.
create function insert_email_rows(p_entries email_log_row[]) returns setof uuid
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return query insert into email_log as l (
    id, category, source, from_address, to_addresses, other_addresses, dropped_addresses, recipient_count, subject,
    outcome, status, provider, provider_message_id, error, error_kind, failed_over, cost_usd, accepted_cost_usd,
    idempotency_key, key_hash, key_tag, retry_at, attempts, traceparent
  )
  select
    e.id, e.category, e.source, e.from_address, e.to_addresses, e.other_addresses, e.dropped_addresses,
    email_distinct_count(e.to_addresses || e.other_addresses), e.subject,
    e.outcome, e.outcome, e.provider, e.provider_message_id, e.error, e.error_kind, e.failed_over, e.cost_usd,
    e.accepted_cost_usd, e.idempotency_key, e.key_hash, e.key_tag, e.retry_at, e.attempts, e.traceparent
  from unnest(p_entries) as e
  on conflict do nothing
  returning l.id;
end
$$;

-- Writes rows of the library, several in one call (MAIL-70, MAIL-71); `ordinal` counts the entries from 1. Called by
-- `MailStore`. Keys of an entry:
--
--   id, category, source, from (or from_address), to (or to_addresses), others, dropped (recipients that were left out),
--   subject, outcome (or status: sent, deferred, suppressed, failed), error, error_kind, failed_over, cost_usd,
--   accepted_cost_usd (what a deferred attempt costs once an event proves it accepted), idempotency_key, key_hash (else
--   the SHA-256 hex of idempotency_key), key_tag (the tag that the request carried), provider, provider_message_id, settle { owner, state, ambiguous, result },
--   retry_at (of a deferral), attempts [{ provider, outcome, reason, code, startedAt, durationMs }] (MAIL-74).
--
-- One row an attempt, whichever writer comes first (L1). Idempotent on `id` and on (provider, provider_message_id): a row
-- that an event made is completed, keeps its id, and has the further of both statuses; a row that is complete is not
-- changed by the same entry again.
--
-- A `deferred` entry whose use of its key has evidence on a row that only events wrote completes that row, whichever provider it
-- is of. Where the evidence stands on another attempt's row, this attempt's row is written as it is, `deferred`: the key is settled by the other
-- row (D1 counts all rows of a key together), its retry ends without sending, and the end state is the one of the other
-- order, in which the event would have found both rows and moved one of them.
--
-- An acceptance whose row has ended otherwise has a row of its own (MAIL-58): a retry whose failure was written, but whose
-- queue never learned it, comes back, and a provider that dedupes may accept it then. Without that row the only evidence
-- would be lost, and the next call on the key would send again.
--
-- `settle` ends what its owner holds of the key (see `begin_email_sends`, `begin_email_retry`), and nobody else's, as `settledClaim`
-- in the domain says: without `result` it only returns a retry's lease. The result is kept as the caller received it, with the
-- row's own id; that of a retry of an earlier use is not.
--
-- Lock order: keys, rows by (provider, provider_message_id), suppressions, claims. A deferral completes the row that an
-- early event made, and locks it at that row's place in the order; the key's lock keeps events from making such a row
-- meanwhile, and another writer of the same attempt from missing that it was completed. Rows are found by the indexes, whatever
-- the statistics say of a log that grew quickly.
create function record_email_sends(p_entries jsonb)
returns table (ordinal integer, send_id uuid, status text, provider_message_id text)
language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  e email_log_row;
  r email_log;
  v_entries email_log_row[];
  v_settle record;
  v_retries boolean;
  v_unproven boolean;
  v_found boolean;
  v_row email_log_row;
  v_lock bigint;
  v_sent_to boolean;
  v_marks text[];
  v_suppress text[] := '{}';
  -- What the kept result says other than the entry, by entry: the row's own id, and an acceptance that was proven.
  v_learned jsonb := '{}';
begin
  v_retries := p_entries @? '$[*].settle.isRetry ? (@ == true)';
  if v_retries then
    -- Before any other lock, as there: an erasure neither misses the row nor is missed by it.
    perform pg_advisory_xact_lock_shared(email_key_lock('erase_person'));
  end if;
  v_unproven := p_entries @? '$[*] ? (!exists(@.provider_message_id ? (@ != null)))';
  if v_unproven then
    for v_lock in
      select distinct email_key_lock(
        coalesce(x.key_tag, x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')))
      from jsonb_to_recordset(p_entries) as x(
        provider text, provider_message_id text, key_hash text, key_tag text, idempotency_key text)
      where x.provider is not null and x.provider_message_id is null
        and coalesce(x.key_tag, x.key_hash, x.idempotency_key) is not null
      order by 1
    loop
      perform pg_advisory_xact_lock(v_lock);
    end loop;
  end if;
  if v_retries then
    -- Not before: what another writer says of the key decides whom its rows may name.
    p_entries := without_erased_people(p_entries);
  end if;

  v_entries := array(
    select row(
      x.ord,
      coalesce(x.id, gen_random_uuid()),
      coalesce(x.category, 'unknown'),
      x.source,
      case
        when position('<' in coalesce(x."from", x.from_address)) = 0 then lower(trim_address(coalesce(x."from", x.from_address)))
        else email_bare_address(coalesce(x."from", x.from_address))
      end,
      email_addresses(coalesce(x."to", x.to_addresses)),
      email_addresses(coalesce(x.others, x.other_addresses)),
      email_addresses(coalesce(x.dropped, x.dropped_addresses)),
      x.subject,
      coalesce(x.outcome, x.status),
      x.error,
      x.error_kind,
      coalesce(x.failed_over, false),
      x.cost_usd,
      x.accepted_cost_usd,
      x.idempotency_key,
      coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')),
      x.key_tag,
      x.provider,
      x.provider_message_id,
      x.retry_at,
      nullif(x.attempts, '[]'),
      x.traceparent
    )::email_log_row
    from rows from (jsonb_to_recordset(p_entries) as (
      id uuid, category text, source text, "from" text, from_address text, "to" jsonb, to_addresses jsonb,
      others jsonb, other_addresses jsonb, dropped jsonb, dropped_addresses jsonb, subject text, outcome text, status text,
      error text, error_kind text, failed_over boolean, cost_usd numeric, accepted_cost_usd numeric, idempotency_key text,
      key_hash text, key_tag text, provider text,
      provider_message_id text, retry_at timestamptz, attempts jsonb, traceparent text, settle jsonb
    )) with ordinality as x(
      id, category, source, "from", from_address, "to", to_addresses,
      others, other_addresses, dropped, dropped_addresses, subject, outcome, status,
      error, error_kind, failed_over, cost_usd, accepted_cost_usd, idempotency_key,
      key_hash, key_tag, provider,
      provider_message_id, retry_at, attempts, traceparent, settle, ord
    )
    -- The row that an event had made, of whichever provider it is.
    left join lateral (
      select l.provider, l.provider_message_id from email_log l
      where coalesce(x.outcome, x.status) = 'deferred' and l.key_tag = x.key_tag and l.outcome is null
        and l.outcome is distinct from 'sent' and l.provider_message_id is not null
        and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
      order by l.created_at desc, l.id desc
      limit 1
    ) as early on true
    order by
      coalesce(early.provider, x.provider) collate "C" nulls last,
      coalesce(
        x.provider_message_id,
        (select l.provider_message_id from email_log l where l.entry_id = x.id),
        early.provider_message_id
      ) collate "C" nulls last,
      x.id, x.ord
  );

  -- Acceptances that nothing is known of are written at once. If one has a row, none is written here: each takes its place below.
  if not v_unproven then
    begin
      select count(*) = cardinality(v_entries) into strict v_found from insert_email_rows(v_entries);
      if not v_found then
        raise unique_violation;
      end if;
      return query select x.ordinal, x.id, x.outcome, x.provider_message_id from unnest(v_entries) as x;
      v_entries := '{}';
    exception when unique_violation then null;
    end;
  end if;

  foreach e in array v_entries
  loop
    v_found := false;

    -- A row that an event had made, completed by this very entry before.
    if e.provider_message_id is null then
      select * into r from email_log l where l.entry_id = e.id for update;
      v_found := found;
    end if;

    if not v_found and e.outcome = 'deferred' and e.provider_message_id is null and e.key_tag is not null
      and not exists (select from email_log l where l.id = e.id)
    then
      select * into r
      from email_log l
      where l.key_tag = e.key_tag and l.outcome is null and l.outcome is distinct from 'sent'
        and l.provider_message_id is not null
        -- A tag is a key's for as long as nobody knows of an earlier use: yesterday's mail is not this one.
        and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
      order by l.created_at desc, l.id desc
      limit 1
      for update;
      v_found := found;
    end if;

    v_row := e;
    while not v_found loop
      perform insert_email_rows(array[v_row]);
      if found then
        send_id := v_row.id;
        status := e.outcome;
        provider_message_id := e.provider_message_id;
        exit;
      end if;
      select * into r from email_log l
      where l.provider = e.provider and l.provider_message_id = e.provider_message_id
      for update;
      v_found := found;
      if not v_found then
        select * into strict r from email_log l where l.id = e.id for update;
        v_found := e.provider_message_id is null or coalesce(
          r.provider_message_id is null and email_status_rank(e.outcome) > email_status_rank(r.outcome), true);
        if v_found and e.provider_message_id is not null and r.provider_message_id is null then
          begin
            update email_log l set provider = coalesce(l.provider, e.provider), provider_message_id = e.provider_message_id
            where l.id = r.id
            returning * into r;
          exception when unique_violation then
            v_found := false;
            continue; -- An event made the row of the message meanwhile.
          end;
        end if;
        -- The row ended otherwise, or as another message: this acceptance is proof, and gets a row of its own (MAIL-58).
        v_row.id := gen_random_uuid();
      end if;
    end loop;

    if v_found then
      if r.outcome is null then
        v_marks := array(
          select x.mark || (e.to_addresses || e.other_addresses)[1] from unnest(r.suppression_marks) as x(mark)
          where x.mark like '%:' and email_distinct_count(e.to_addresses || e.other_addresses) = 1
        );
        v_suppress := v_suppress || v_marks;
        begin
          update email_log l set entry_id = e.id where l.id = r.id;
        exception when unique_violation then
          null; -- The attempt completed the row of another message before.
        end;
        update email_log l set
          category = e.category,
          source = e.source,
          from_address = coalesce(e.from_address, l.from_address),
          to_addresses = e.to_addresses,
          other_addresses = e.other_addresses,
          dropped_addresses = e.dropped_addresses,
          recipient_count = email_distinct_count(e.to_addresses || e.other_addresses),
          subject = coalesce(e.subject, l.subject),
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          -- A temporary bounce of a mail that its only recipient got is an automatic reply (EVENT-16).
          error = case
            when email_status_rank(l.status) between email_status_rank('delivered') and email_status_rank('clicked')
              and email_distinct_count(e.to_addresses || e.other_addresses) < 2 then e.error
            else coalesce(l.error, e.error)
          end,
          error_kind = e.error_kind,
          failed_over = e.failed_over,
          -- The event that made the row is the proof that a deferral was accepted.
          cost_usd = case when e.outcome = 'deferred' then coalesce(e.cost_usd, e.accepted_cost_usd) else e.cost_usd end,
          accepted_cost_usd = e.accepted_cost_usd,
          idempotency_key = e.idempotency_key,
          key_hash = coalesce(e.key_hash, l.key_hash),
          key_tag = coalesce(e.key_tag, l.key_tag),
          suppression_marks = l.suppression_marks || v_marks,
          retry_at = e.retry_at,
          attempts = e.attempts,
          traceparent = e.traceparent,
          updated_at = now()
        where l.id = r.id
        returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      elsif email_status_rank(e.outcome) > email_status_rank(r.outcome) then
        -- The retry's acceptance came back as an event first and moved the deferred row: that row is the accepted one. A retry
        -- that comes again may have gone to others than its first run, before the suppressions changed.
        v_sent_to := e.outcome = 'sent' and not exists (
          select from unnest(r.to_addresses || r.other_addresses || r.dropped_addresses) as x(address)
          where x.address like 'erased:%'
        );
        update email_log l set
          to_addresses = case when v_sent_to then e.to_addresses else l.to_addresses end,
          other_addresses = case when v_sent_to then e.other_addresses else l.other_addresses end,
          dropped_addresses = case when v_sent_to then e.dropped_addresses else l.dropped_addresses end,
          recipient_count = case when v_sent_to then email_distinct_count(e.to_addresses || e.other_addresses)
            else l.recipient_count end,
          outcome = e.outcome,
          status = case when email_status_rank(e.outcome) > email_status_rank(l.status) then e.outcome else l.status end,
          provider = coalesce(l.provider, e.provider),
          provider_message_id = coalesce(l.provider_message_id, e.provider_message_id),
          error = coalesce(l.error, e.error),
          error_kind = coalesce(l.error_kind, e.error_kind),
          failed_over = l.failed_over or e.failed_over,
          cost_usd = coalesce(l.cost_usd, e.cost_usd),
          attempts = case when l.attempts @> e.attempts then l.attempts
            else nullif(coalesce(l.attempts, '[]') || coalesce(e.attempts, '[]'), '[]') end,
          updated_at = now()
        where l.id = r.id
        returning l.id, l.status, l.provider_message_id into send_id, status, provider_message_id;
      else
        send_id := r.id;
        status := r.status;
        provider_message_id := r.provider_message_id;
      end if;
    end if;
    if v_found or send_id <> e.id then
      v_learned := v_learned || jsonb_build_object(e.id, case when send_id = e.id then '{}'
        else jsonb_build_object('sendId', send_id) end || case
        when e.outcome = 'deferred' and provider_message_id is not null
        then jsonb_build_object('status', 'sent', 'providerMessageId', provider_message_id)
        else '{}' end);
    end if;

    ordinal := e.ordinal;
    return next;
  end loop;

  if v_suppress <> '{}' then
    perform add_email_suppressions(v_suppress, 'a delivery event that came before its row');
  end if;

  if p_entries @? '$[*].settle ? (@ != null)' then
    for v_settle in
      select
        coalesce(x.key_hash, encode(sha256(convert_to(x.idempotency_key, 'UTF8')), 'hex')) as key_hash,
        x.key_tag,
        x.settle ->> 'owner' as owner,
        x.settle ->> 'state' as state,
        coalesce((x.settle ->> 'ambiguous')::boolean, false) as ambiguous,
        (x.settle -> 'result') || coalesce(v_learned -> x.id, '{}') as result
      from jsonb_to_recordset(p_entries) as x(id text, key_hash text, key_tag text, idempotency_key text, settle jsonb)
      where jsonb_typeof(x.settle) = 'object'
      order by key_hash
    loop
      if jsonb_typeof(v_settle.result) = 'object' then
        update email_send_claims c set
          state = n.state,
          ambiguous = c.ambiguous or v_settle.ambiguous,
          -- The claim may have been taken without its owner's hearing of it, and asked another provider than it names.
          provider = coalesce(v_settle.result ->> 'provider', c.provider),
          -- A key that is `ended` is never reported as certainly not delivered (S2).
          result = case
            when n.state = 'ended' and v_settle.result -> 'ok' = 'false'
              then v_settle.result || '{"status": "failed", "kind": "ambiguous"}'
            else v_settle.result
          end,
          last_attempt_at = case
            when n.state in ('accepted', 'refused') then least(c.last_attempt_at, clock_timestamp()) else c.last_attempt_at
          end,
          lease_until = null,
          updated_at = now()
        from (
          -- A caller that does not know of an earlier ambiguous attempt cannot free its key (S2).
          select x.key_hash, case when x.ambiguous and v_settle.state = 'refused' then 'ended' else v_settle.state end as state
          from email_send_claims x
          where x.key_hash = v_settle.key_hash and x.owner = v_settle.owner and x.lease_until is not null
            and (v_settle.key_tag is null or x.tag is not distinct from v_settle.key_tag)
          for update
        ) as n
        where c.key_hash = n.key_hash;
        continue when found;
      end if;
      update email_send_claims c set
        ambiguous = c.ambiguous or v_settle.ambiguous, lease_until = null, updated_at = now()
      where c.key_hash = v_settle.key_hash and c.owner = v_settle.owner and c.lease_until is not null;
    end loop;
  end if;
end
$$;

-- Writes one row of the library: `record_email_sends` for one entry. For callers in SQL.
create function record_email_send(p_entry jsonb)
returns table (send_id uuid, status text, provider_message_id text)
language sql
set search_path = pg_catalog, public, pg_temp
as $$
  select x.send_id, x.status, x.provider_message_id from record_email_sends(jsonb_build_array(p_entry)) as x
$$;


-- A deferral: retry it, learn its end

-- Decides whether a queued retry may go out (MAIL-52, MAIL-54). Called by `MailStore`. Keys of the entry: key_hash, tag (what its
-- request carries), first_attempt_at (milliseconds of the epoch; null where no store gave it), age_ms (the least that it can be), provider, row_id, addresses, owner, lease_ms.
--   Recorded  its row is there: its outcome was recorded before its message came back.
--   Settled   `evidence` { provider, providerMessageId } of an accepted attempt.
--   Busy      another owner's lease on the key is alive.
--   Go        the key is leased to the caller (again, where it asked before).
-- Of `Settled` and `Go`: `first_attempt_at` and `last_attempt_at` of this use of the key, milliseconds of the epoch.
--
-- Lock order: key, rows, claim. An event of the key that is being recorded is waited for: it may be the evidence. A row that it
-- made while nothing here knew the key of its tag learns it now: where the deferral's own row was lost, nothing else tells its end.
create function begin_email_retry(p_entry jsonb)
returns table (decision text, evidence jsonb, suppressions jsonb, first_attempt_at float8, last_attempt_at float8)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
#variable_conflict use_column
declare
  c email_send_claims;
  v_claimed boolean;
  v_key text := p_entry ->> 'key_hash';
  v_tag text := p_entry ->> 'tag';
  v_row_id uuid := (p_entry ->> 'row_id')::uuid;
  v_provider text := p_entry ->> 'provider';
  v_owner text := p_entry ->> 'owner';
  v_lease timestamptz;
  v_first timestamptz := coalesce(
    to_timestamp((p_entry ->> 'first_attempt_at')::float8 / 1000.0),
    clock_timestamp() - make_interval(secs => (p_entry ->> 'age_ms')::float8 / 1000.0));
begin
  suppressions := '[]';
  perform pg_advisory_xact_lock(email_key_lock(coalesce(v_tag, v_key)));
  update email_log l set key_hash = v_key
  where l.key_tag = v_tag and l.outcome is distinct from 'sent' and l.key_hash is null;
  loop
    select * into c from email_send_claims x where x.key_hash = v_key for update;
    v_claimed := found;
    -- Read once the claim is held: the row's writer has let go of it.
    if exists (select from email_log l where l.id = v_row_id)
      or exists (select from email_log l where l.entry_id = v_row_id)
    then
      decision := 'Recorded';
      return next;
      return;
    end if;
    exit when v_claimed;
    -- Without a claim of the first call (its key was made by the library, or the database was away), all rows of the key's last
    -- 24 hours count, and any payload fits.
    insert into email_send_claims (
      key_hash, payload_hash, state, provider, ambiguous, leaving, owner, first_attempt_at, last_attempt_at, tag
    )
    select
      v_key, '', 'deferred', v_provider, true, true, v_owner, coalesce(min(l.created_at), v_first),
      coalesce(max(l.created_at), v_first), v_tag
    from email_log l
    where l.key_hash = v_key and l.outcome is not null
      and l.created_at > clock_timestamp() - interval '23 hours 50 minutes'
    on conflict (key_hash) do nothing;
  end loop;

  select jsonb_build_object('provider', x.provider, 'providerMessageId', x.provider_message_id) into evidence
  from find_email_evidence(v_key, v_tag, v_first) as x;
  first_attempt_at := extract(epoch from c.first_attempt_at) * 1000;
  last_attempt_at := extract(epoch from least(c.last_attempt_at, clock_timestamp())) * 1000;
  if evidence is not null then
    decision := 'Settled';
    -- The claim may be a later use's.
    if c.tag is distinct from v_tag then
      first_attempt_at := extract(epoch from v_first) * 1000;
      last_attempt_at := first_attempt_at;
    end if;
  elsif c.lease_until > clock_timestamp() and c.owner <> v_owner then
    decision := 'Busy';
  else
    decision := 'Go';
    v_lease := clock_timestamp() + make_interval(secs => (p_entry ->> 'lease_ms')::float8 / 1000.0);
    -- One that ends a use which is over, a day late, leaves the present one alone.
    update email_send_claims x set
      owner = v_owner, provider = v_provider, ambiguous = true, lease_until = v_lease,
      -- One that is a day late asks nobody any more.
      last_attempt_at = case
        when clock_timestamp() - c.first_attempt_at < interval '24 hours' then v_lease else c.last_attempt_at
      end,
      updated_at = now()
    where x.key_hash = v_key
      and (c.tag is not distinct from v_tag or clock_timestamp() - v_first < interval '24 hours');
    suppressions := email_suppressions_of(email_addresses(p_entry -> 'addresses')) || coalesce((
      select jsonb_agg(jsonb_build_object('email', x.email, 'reason', 'erased'))
      from unnest(email_erased_of(v_key, email_addresses(p_entry -> 'addresses'))) as x(email)
    ), '[]');
  end if;
  return next;
end
$$;

-- How the deferral of a key ended (R3): `sent` (or further), `failed`, `suppressed`; `deferred` while its retries are under
-- way; null where nothing under the key was ever deferred. A key under which a provider accepted a mail is `sent`, whether or
-- not the row of its deferral was written: a caller with the answer `deferred`, whose row was lost, would otherwise ask for
-- the mail again once the relay has forgotten the key. So is one of which only an event tells that carries the tag of its first use:
-- of a send that found no claim store, and whose rows were lost. No retry goes out 24 hours after the first attempt: a deferral whose
-- end is unknown by then has failed (MAIL-56). Called where invitations and outreach sends learn their end.
create function email_deferral_end(p_idempotency_key text) returns text
language sql
stable
set search_path = pg_catalog, public, pg_temp
as $$
  with k as materialized (
    select x.hash, email_use_tag(x.hash, 'first') as tag
    from (select encode(sha256(convert_to(p_idempotency_key, 'UTF8')), 'hex') as hash) as x
  )
  select case
    when bool_or(l.outcome = 'sent' or l.provider_message_id is not null) then 'sent'
    when coalesce(bool_or(l.outcome = 'deferred'), false) is false then
      -- A doubt that could not be queued for its retry, or whose recipients were suppressed then. A provider that dedupes may be asked on the same key again; of another one
      -- the key is used up for a day.
      case
        when (array_agg((l.error_kind = 'ambiguous' or l.outcome = 'suppressed') and l.provider <> 'provider_a'
          order by l.created_at desc, l.id desc))[1]
          then 'failed'
      end
    else (array_agg(
      case
        when l.outcome = 'deferred' and l.created_at <= clock_timestamp() - interval '24 hours' then 'failed'
        else l.outcome
      end
      order by l.created_at desc, l.id desc))[1]
  end
  from (
    select x.* from email_log x where x.key_hash = (select k.hash from k)
    union all
    select x.* from email_log x
    where x.key_tag = (select k.tag from k) and x.outcome is distinct from 'sent' and x.key_hash is null
  ) as l
$$;

-- The key under which a mail is asked for now: the key itself; where its deferral ended without a mail, KEY/2, then KEY/3,
-- and so on. `state`: new (never deferred), deferred, sent. `ended`: how the deferral before the open key ended. Called by
-- `Deferrals`, and by outreach.
create function email_open_key(p_key text, out key text, out state text, out ended text)
language plpgsql
stable
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_number integer := 1;
begin
  loop
    key := case v_number when 1 then p_key else p_key || '/' || v_number end;
    state := coalesce(email_deferral_end(key), 'new');
    exit when state not in ('failed', 'suppressed');
    ended := state;
    v_number := v_number + 1;
  end loop;
end
$$;


-- Upkeep

-- Drops claims that have expired: 24 hours after their last attempt, with none under way (MAIL-44). Returns how many; housekeeping
-- calls again while it returns `p_limit`.
create function purge_email_claims(p_limit integer default 10000) returns integer
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_count integer;
begin
  with old as materialized (
    select x.key_hash from email_send_claims x
    where x.first_attempt_at <= now() - interval '24 hours' and x.last_attempt_at <= now() - interval '24 hours'
      and (x.lease_until is null or x.lease_until < now())
    limit p_limit
    for update skip locked
  )
  delete from email_send_claims c using old
  where c.key_hash = old.key_hash;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

select secure_table(name) from unnest(array[
  'email_log', 'email_suppressions', 'erased_suppressions', 'email_send_claims', 'email_tag_secrets', 'email_unclaimed_sends',
  'email_defer_queue', 'email_defer_queue_migrations'
]::regclass[]) as name;

do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant all on sequence email_defer_queue_sequence_seq to service_role;
  end if;
end
$$;

select secure_function(name) from unnest(array[
  'email_status_rank(text)',
  'email_log_words_are_known(text, text, text, text)',
  'email_is_undelivered(text, text)',
  'is_email_claim_state(text)',
  'email_bare_address(text)',
  'email_addresses(jsonb)',
  'email_distinct_count(text[])',
  'address_hash(text)',
  'erased_alias(text)',
  'email_suppressions_of(text[])',
  'email_erased_of(text, text[])',
  'without_erased_people(jsonb)',
  'error_without_person(text)',
  'attempts_without_person(jsonb)',
  'json_or_null(text)',
  'erase_deferred_person(text)',
  'add_email_suppressions(text[], text)',
  'email_tag_pad(bytea, integer)',
  'email_use_tag(text, text)',
  'note_unclaimed_email_sends(integer)',
  'email_key_lock(text)',
  'find_email_evidence(text, text, timestamp with time zone)',
  'find_email_trail(text, jsonb)',
  'begin_email_sends(jsonb)',
  'move_email_claim(text, text, text)',
  'insert_email_rows(email_log_row[])',
  'record_email_sends(jsonb)',
  'record_email_send(jsonb)',
  'begin_email_retry(jsonb)',
  'email_deferral_end(text)',
  'email_open_key(text)',
  'purge_email_claims(integer)'
]::regprocedure[]) as name;
